"""All kinds of faults, as one type to decode into."""

from __future__ import annotations

from typing import TypeAlias

from tap_leadintent.sandbox.faults import bodies, pages, wire

FaultKind: TypeAlias = (
    bodies.Status
    | bodies.Body
    | bodies.ErrorIn200
    | bodies.Html
    | bodies.EmptyBody
    | bodies.Truncate
    | bodies.Undecodable
    | bodies.Redirect
    | bodies.EchoKey
    | bodies.ExpireCursor
    | bodies.Huge
    | bodies.Bomb
    | pages.NoNext
    | pages.Cycle
    | pages.SameCursor
    | pages.EmptyPage
    | pages.IgnoreRange
    | pages.Duplicate
    | pages.MissingId
    | wire.Reset
    | wire.Drop
    | wire.Hang
    | wire.Drip
)
"""Any fault, told apart by its `kind`."""
