"""What `webserv` exports is a promise."""

from __future__ import annotations

import pytest

import webserv


@pytest.mark.parametrize("name", webserv.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(webserv, name) is not None


def test_dir_lists_the_public_names():
    assert dir(webserv) == sorted(webserv.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Environment'"):
        _ = webserv.Environment


@pytest.mark.parametrize("name", sorted(set(webserv.__all__) - {"__version__"}))
def test_public_names_are_documented(name):
    assert (getattr(webserv, name).__doc__ or "").strip()
