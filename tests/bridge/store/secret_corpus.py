"""Secrets in the forms they take on phones and terminals, and ordinary texts that must stay.

``SECRETS``: class, text with one ``{}``, the secret that stands there. Values are made up.
``CONTROLS``: class, texts without any secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

A24, A32, A40 = "a1B2c3D4e5F6g7H8i9J0k1L2", "9f8e7d6c5b4a39281706f5e4d3c2b1a0", "Zx9" * 13 + "Q"


@dataclass(frozen=True)
class Case:
    """``text`` holds ``secret``; both are what a screen, a terminal or a file shows."""

    kind: str
    text: str
    secret: str


KEYS = (
    f"sk-proj-{A40}",
    f"sk-ant-api03-{A40}",
    f"sk-or-v1-{A32}{A32}",
    f"sk-{A32}",
    f"gsk_{A40}",
    f"xai-{A40}",
    f"AIza{A24}abcdefghijk",
    f"AQ.{A40}",
    f"pplx-{A40}",
    f"hf_{A40}",
    f"r8_{A40}",
    f"nvapi-{A40}",
    f"fw_{A24}",
    f"csk-{A40}",
    f"ghp_{A40}",
    f"github_pat_{A40}",
    f"glpat-{A24}",
    "AKIAIOSFODNN7EXAMPLE",
    f"xoxb-123456789012-{A24}",
    f"sk_live_{A24}",
    f"whsec_{A32}",
    f"SG.{A24}.{A40}",
    f"npm_{A40}",
    f"ya29.{A40}",
    f"hvs.{A24}",
    f"123456789:AA{A40}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
)
KEY_PLACES = (
    "export KEY={}",
    'curl -H "x-api-key: {}" https://api.example.com/v1',
    '{{"key": "{}"}}',
    '[4] field "Key" ="{}"',
    "GET /v1?key={}&page=2",
    "the key is {}.",
    "{}",
)
BEARER = (
    "Authorization: Bearer {}",
    "curl -H 'authorization: bearer {}' x",
    '"Authorization": "Basic {}"',
    "auth=Bearer%20{}",
)
PASSWORDS = (
    ("password={}", "hunter2"),
    ("password={}", "correcthorse"),
    ("PASSWORD={}\nHOME=/root", "x!7yz"),
    ("https://h.example/login?user=me&password={}&next=1", "hunter2"),
    ("user=me&passwd={}", "p%40ss1"),
    ('{{"user": "me", "password": "{}"}}', "my pass phrase"),
    ('{{"password":"{}","a":1}}', 'qu\\"ote1'),
    ("{{'pwd': '{}'}}", "s3cr3t"),
    ('arg body {{\\"password\\": \\"{}\\"}}', "abc def 1"),
    ("db:\n  password: {}\n  port: 5432", "s3cret!"),
    ("db:\n  password: {}\n", "correcthorse"),
    ("  - api_key: {}", "abcdef123456"),
    ('<string name="auth_token">{}</string>', "k39fk20d"),
    ("<password>{}</password>", "hunter2"),
    ("DB_PASSWORD={}", "pa55word"),
    ("dbPassword = '{}'", "pa55word"),
    ("client_secret={}", "cs-88a7"),
    ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("mysql --password={} -e x", "pw12"),
    ("sshpass -p {} ssh host", "pw1234"),
    ("curl -u admin:{} https://h.example", "pw1234"),
    ("--token {} run", "tok-7788aa"),
    ("refresh_token={}", "rt.7788aabb"),
    ("Cookie: {}", "session=8877aabb; theme=dark"),
    ("Password: {}", "hunter2"),
    ("密码：{}", "abc12345"),
    ("密码是{}", "abc12345"),
    ("パスワード: {}", "abc12345"),
    ("비밀번호: {}", "abc12345"),
    ("Пароль: {}", "abc12345"),
    ("Contraseña: {}", "abc12345"),
    ("Passwort: {}", "abc12345"),
    ("Senha: {}", "abc12345"),
    ("your password is {}", "hunter2"),
    ("the password for guest is {}", "guest2024"),
    ("Das Passwort lautet {}", "geheim99"),
    ("log in with password {}", "hunter2!"),
    ("https://me:{}@example.com/x", "hunter2"),
    ("postgres://app:{}@db:5432/x", "p4ss"),
    ("redis://:{}@cache:6379/0", "r3dis"),
    ("jdbc:mysql://u:{}@h/db", "p4ss"),
    ("https://s3.example/x?X-Amz-Signature={}&a=1", A32),
    ("PIN: {}", "4821"),
    ("sid={}", "77aabb99"),
)
WIFI = (
    ("WIFI:S:home;T:WPA;P:{};;", "s3cr3t pass"),
    ("WIFI:T:WPA;P:{};S:home;;", "a\\;b1234"),
    ("WIFI:T:WPA;S:home;P:{};H:true;;", "plainword"),
    ('    psk="{}"', "correct horse"),
    ("    psk={}", A32 + A32),
    ("    wep_key0={}", "1234567890"),
    ('    sae_password="{}"', "wordy pass"),
    ('<string name="PreSharedKey">&quot;{}&quot;</string>', "wordy pass"),
    ('<string name="WEPKeys">{}</string>', "abcde12345"),
    ("Wi-Fi password: {}", "abcd1234"),
    ("Network key: {}", "plainword"),
    ("preSharedKey: {}", "plainword"),
    ("cmd wifi connect-network home wpa2 {}", "plainword1"),
    ("网络密钥：{}", "abcd1234"),
    ("<Password>{}</Password>", "wordy pass"),
    ("hotspot password = {}", "plainword"),
)
CODES = (
    ("Your verification code is {}.", "482913"),
    ("Your code: {}", "7731"),
    ("{} is your login code", "993311"),
    ("G-{} is your verification code", "482913"),
    ("Verification code\\n{}", "482913"),
    ("OTP {} valid 5 min", "88231"),
    ("Enter this code: {}", "482 913"),
    ("【甲云】您的验证码为：{}，请于5分钟内", "482913"),
    ("動態密碼{}，請勿洩漏", "905512"),
    ("認証コード：{}", "482913"),
    ("인증번호 [{}]를 입력", "482913"),
    ("Ваш код: {}", "48291"),
    ("Код подтверждения {}", "482913"),
    ("Su código de verificación es {}", "482913"),
    ("Seu código de verificação: {}", "482913"),
    ("Votre code de sécurité est {}", "482913"),
    ("Ihr Code lautet {}", "482913"),
    ("Bestätigungscode: {}", "482913"),
    ("رمز التحقق: {}", "482913"),
    ("आपका ओटीपी {} है", "482913"),
    ("Il tuo codice di verifica è {}", "482913"),
    ("Je verificatiecode is {}", "482913"),
    ("Doğrulama kodu: {}", "482913"),
    ("Twój kod weryfikacyjny: {}", "482913"),
    ("Mã xác thực của bạn là {}", "482913"),
    ("Kode verifikasi Anda: {}", "482913"),
    ("รหัสยืนยัน {}", "482913"),
    ("Security code {}", "K7XQ2P"),
)

PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7vPq1kd9\nb3BlbnNzaC1rZXktdjEAAAAA\n"
    "-----END RSA PRIVATE KEY-----"
)


def secrets() -> Iterator[Case]:
    """Every secret in every place it stands in."""
    for key in KEYS:
        yield from (Case("API key", place.format(key), key) for place in KEY_PLACES)
    yield from (Case("bearer token", place.format(A40), A40) for place in BEARER)
    for form in ("OPENSSH ", "EC ", "", "ENCRYPTED "):
        block = PEM.replace("RSA ", form)
        yield Case("PEM block", f"$ cat id\n{block}\n$ ", block)
        yield Case("PEM block", block.replace("\n", "\\n"), block.replace("\n", "\\n"))
        yield Case("PEM block", block[:80], block[:80])
    yield from (Case("password", text.format(value), value) for text, value in PASSWORDS)
    yield from (Case("Wi-Fi key", text.format(value), value) for text, value in WIFI)
    yield from (Case("one-time code", text.format(value), value) for text, value in CODES)


CONTROLS: dict[str, tuple[str, ...]] = {
    "prices": (
        "Total $1,204.77",
        "128.50元",
        "¥4,829 incl. tax",
        "Price: 4829 EUR",
        "balance 3.204,77 €",
        "Rs. 4829.00 debited",
        "3 items for 1299",
        "R$ 4.829,00",
        "20% off until 30 June",
        "2,300원 일시불",
        "Subtotal 4829",
        "Your total: $482.91",
        "Invoice over 4829 USD",
    ),
    "dates and times": (
        "06/18 10:22",
        "2026-11-30T20:15:00Z",
        "30 June 2026",
        "10:22:33",
        "20260618102203",
        "6月18日 10:22 発",
        "Updated 18.06.2026",
        "expires 2027",
        "Mon Nov 30 20:47:01 UTC 2026",
        "last seen today at 10:22",
        "in 48291 seconds",
        "18/06/26, 10:22 - Alice: hi",
    ),
    "order and tracking numbers": (
        "Your order #482913 has shipped",
        "订单 2024061810220481 已发货",
        "order 482913",
        "Track: 1Z999AA10123456784",
        "ご注文番号 482-9130471-2210987",
        "Tracking RR123456785DE",
        "Invoice 2026-004829",
        "Case 00482913 was closed",
        "Ticket ABC-4829",
        "pedido 482913",
        "Booking reference K7XQ2P",
        "Zip code 10115",
        "postal code 94103",
        "Area code 415",
        "Use promo code SAVE20",
        "coupon code WINTER24",
        "QR code 48291",
        "gift code AB12CD34",
    ),
    "phone and account numbers": (
        "+1 555 0100",
        "call 030 901820",
        "Reply STOP to 48291",
        "IBAN DE89 3704 0044 0532 0130 00",
        "card ending in 8821",
        "尾号8821的卡",
        "3 new messages from +49 30 901820",
        "Room 4829",
        "Flight BA0482 at gate 13",
        "G1234次 06车12F号",
        "tel:+4930901820",
        "ext. 4829",
    ),
    "versions and builds": (
        "版本 8.0.54 (2540)",
        "Build UP1A.231005.007",
        "Android 14 (34)",
        "v2026.11.30-rc1",
        "ro.build.version.incremental=10161353",
        "versionCode=482913",
        "sha256:9f8e7d6c5b4a3928",
        "commit 7d501fa",
        "kernel 5.10.110-android12",
        "error code 4041",
        "exit code: 1",
        "Process finished with exit code 137",
        "HTTP status code 4041",
        "keycode 1066",
    ),
    "names and labels": (
        '[5] field "Password" focused password',
        "Password: forgotten?",
        "Forgot password?",
        "Enter your password to continue",
        "Never share your verification code with anyone.",
        "Wi-Fi password",
        "Password required",
        "Basic authentication",
        "token ring network",
        "Show password",
        "Password manager is on",
        "Use a passkey",
        "Secret santa list",
        "max_tokens=4096",
        "PWD=/sdcard",
        "monkey=banana",
        "keyboard shown",
        "Key: C major",
        "tap the lock key to go on",
        "passenger: Bob",
        "compass=north",
        "task-force-delta-2026-review",
        "com.example.token.TokenActivity",
        "password_toggle_button",
        "https://example.com:8080/a@b",
        "sk-learn and risk-adjusted returns",
        "bearer of good news",
        "session 12 of 30",
        "pin the message",
        "Verification code sent. Enter it below.",
        "secretary=Alice",
        "$PASSWORD",
        "password=${DB_PASS}",
        "password=****",
        "Your password is incorrect",
        "The password must have 8 characters",
        "Set a password with at least 8 letters",
        "-----BEGIN CERTIFICATE-----",
        "token_type=bearer",
    ),
    "terminal output": (
        "drwxr-xr-x 2 root root 4096 2026-11-30 20:15 bin",
        "uid=2000(shell) gid=2000(shell)",
        "inet 192.168.1.20/24 brd 192.168.1.255",
        "64 bytes from 1.1.1.1: icmp_seq=1 ttl=57",
        "MemTotal: 3914520 kB",
        "[ro.product.model]: [Pixel 8]",
        "level: 87",
        "temperature: 291",
        "mCurrentFocus=Window{9f8e7d6 u0 com.example/.Main}",
        "pid 4829 killed",
        "PATH=/system/bin",
        "Success",
        "package:com.example uid:10123",
        "keyguard: false",
        'ssid: "home", rssi: -55',
    ),
}
