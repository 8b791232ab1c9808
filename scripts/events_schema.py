"""Print docs/events.schema.json: python scripts/events_schema.py > docs/events.schema.json"""

from __future__ import annotations

import json

from bridge.store.event_schema import event_schema

if __name__ == "__main__":
    print(json.dumps(event_schema(), indent=2))
