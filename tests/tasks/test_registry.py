from importlib.metadata import EntryPoint

import pytest

from webserv.errors import UnknownName
from webserv.tasks import registry
from webserv.tasks.benchmark import Benchmark

TOY = Benchmark("toy", "A toy", ("toy",), ())


def load_toy():
    return TOY


@pytest.fixture
def plug_ins(monkeypatch):
    """Makes entry points that lead into this module or nowhere."""

    def install(**values):
        points = [EntryPoint(name, value, registry.ENTRY_POINT_GROUP) for name, value in values.items()]
        monkeypatch.setattr(registry, "entry_points", lambda *, group: points)
        monkeypatch.setitem(registry.__dict__, "toy_loader", load_toy)

    return install


def test_built_in_and_plugged_in_benchmarks_are_listed_without_loading(plug_ins):
    plug_ins(toy="no.such.module:load")
    assert registry.list_benchmarks() == ["shop", "toy"]


def test_a_plug_in_is_loaded_by_name(plug_ins):
    plug_ins(toy="webserv.tasks.registry:toy_loader")
    assert registry.load_benchmark("toy") is TOY


def test_a_broken_plug_in_warns_and_spoils_nothing(plug_ins):
    plug_ins(broken="no.such.module:load", toy="webserv.tasks.registry:toy_loader")
    assert registry.load_benchmark("toy") is TOY
    with (
        pytest.warns(UserWarning, match=r"'broken' \(no.such.module:load\) cannot be loaded"),
        pytest.raises(UnknownName),
    ):
        registry.load_benchmark("broken")


def test_an_unknown_benchmark_names_the_known_ones():
    with pytest.raises(UnknownName, match=r"There is no benchmark 'shp'. Did you mean 'shop'\?"):
        registry.load_benchmark("shp")
    with pytest.raises(UnknownName, match="benchmark 'nope'"):
        registry.load_task("nope/find-v1:0")
