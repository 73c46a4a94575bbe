"""Imports run one way, from the tap down to what stands by itself."""

import grimp
from grimp import Layer

LAYERS = (
    Layer("tap"),
    Layer(
        *("discovery", "run", "state_tool", "streams"),
        independent=False,
    ),
    Layer("client"),
    Layer("records", "replication"),
    Layer("api", "config"),
    Layer("singer"),
    Layer(
        *("errors", "interruption", "openapi", "progress", "times"),
        "definitions",
        independent=False,
    ),
)
"""From the top; the modules of one line do not import each other unless it says so."""


def test_imports_run_one_way() -> None:
    package = grimp.build_graph("tap_leadintent", cache_dir=None)
    illegal = package.find_illegal_dependencies_for_layers(
        layers=LAYERS, containers={"tap_leadintent"}
    )
    assert not {f"{found.importer} imports {found.imported}" for found in illegal}


def test_every_module_has_its_layer() -> None:
    modules = grimp.build_graph("tap_leadintent", cache_dir=None).find_children(
        "tap_leadintent"
    )
    names = {module.rpartition(".")[2] for module in modules}
    rooms = {module for layer in LAYERS for module in layer.module_tails}
    assert names - {"__main__", "demo", "sandbox"} == rooms
