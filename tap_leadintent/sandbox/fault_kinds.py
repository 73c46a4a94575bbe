"""All kinds of faults, as one type to decode into."""

from __future__ import annotations

from typing import TypeAlias

from tap_leadintent.sandbox import fault_bodies, fault_pages, fault_wire

FaultKind: TypeAlias = (
    fault_bodies.Status
    | fault_bodies.Body
    | fault_bodies.ErrorIn200
    | fault_bodies.Html
    | fault_bodies.EmptyBody
    | fault_bodies.Truncate
    | fault_bodies.Undecodable
    | fault_bodies.Redirect
    | fault_bodies.EchoKey
    | fault_bodies.ExpireCursor
    | fault_bodies.Huge
    | fault_bodies.Bomb
    | fault_pages.NoNext
    | fault_pages.Cycle
    | fault_pages.SameCursor
    | fault_pages.EmptyPage
    | fault_pages.IgnoreRange
    | fault_pages.Duplicate
    | fault_pages.MissingId
    | fault_wire.Reset
    | fault_wire.Drop
    | fault_wire.Hang
    | fault_wire.Drip
)
"""Any fault, told apart by its `kind`."""
