"""The carriers by the name of their mode."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.cst.carrier import Carrier
from bridge.cst.heredoc import CtlCarrier, HeredocCarrier
from bridge.cst.native import NativeEosCarrier, NativeIncCarrier
from bridge.cst.xml import XmlCarrier

_ALL: tuple[Carrier, ...] = (
    HeredocCarrier(),
    CtlCarrier(),
    NativeEosCarrier(),
    NativeIncCarrier(),
    XmlCarrier(),
)
CARRIERS: Mapping[str, Carrier] = {carrier.name: carrier for carrier in _ALL}
