"""The packages of a new virtual phone."""

from __future__ import annotations

from dataclasses import dataclass

from device_tools.virtual.state import LAUNCHER, LAUNCHER_ACTIVITY, RECENTS_ACTIVITY


@dataclass(frozen=True)
class App:
    """``activities[0]`` is the main one; ``private`` ones only the app itself may start."""

    package: str
    label: str
    activities: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    system: bool = True
    launchable: bool = True
    permissions: tuple[str, ...] = ()
    version: str = "14"
    version_code: int = 34
    uid: int = 1000

    @property
    def path(self) -> str:
        if self.system:
            return f"/system/app/{self.package.rsplit('.', 1)[-1]}/base.apk"
        return f"/data/app/~~Qm9va2luZw==/{self.package}-1/base.apk"


READ_CONTACTS = "android.permission.READ_CONTACTS"

APPS: tuple[App, ...] = (
    App("android", "Android System", launchable=False),
    App(
        LAUNCHER, "Launcher", (LAUNCHER_ACTIVITY,), (RECENTS_ACTIVITY,), launchable=False, uid=10101
    ),
    App("com.android.systemui", "System UI", launchable=False, uid=10102),
    App(
        "com.android.permissioncontroller",
        "Permission controller",
        private=(".permission.ui.GrantPermissionsActivity",),
        launchable=False,
        uid=10103,
    ),
    App("com.android.inputmethod.latin", "Android Keyboard", launchable=False, uid=10104),
    App("com.android.settings", "Settings", (".Settings",), (".SubSettings",)),
    App(
        "com.android.messaging",
        "Messages",
        (".ui.conversationlist.ConversationListActivity",),
        (".ui.conversation.ConversationActivity",),
        permissions=("android.permission.READ_SMS",),
        uid=10105,
    ),
    App(
        "com.android.contacts",
        "Contacts",
        (".activities.PeopleActivity",),
        (".quickcontact.QuickContactActivity",),
        permissions=(READ_CONTACTS,),
        uid=10106,
    ),
    App("com.android.browser", "Browser", (".BrowserActivity",), uid=10107),
    App(
        "com.example.notes",
        "Notes",
        (".NotesActivity", ".EditNoteActivity", ".UnlockActivity"),
        system=False,
        version="2.3.1",
        version_code=231,
        uid=10151,
    ),
)
