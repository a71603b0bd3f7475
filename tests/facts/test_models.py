import json
import os

import pytest

from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts import models
from ddtree_doctor.facts.models import SHIPPED, read_model

CONFIG = {"hidden_size": 4096, "vocab_size": 151936}
HOSTILE = {
    "empty": b"",
    "binary": b"\x7fELF\x00\xff",
    "list": b"[1]",
    "nan": b'{"hidden_size": NaN}',
    "huge": b'{"vocab_size": 1' + b"0" * 5000 + b"}",
    "deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "twice": b'{"a": 1, "a": 2}',
    "bom": b"\xef\xbb\xbf{}",
}


@pytest.fixture(autouse=True)
def _nowhere_else(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "models/Qwen3-8B"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


def test_a_folder_a_file_and_a_path_below_the_launch_are_all_read(folder, tmp_path):
    for name, base in ((str(folder), None), (str(folder / "config.json"), None), ("Qwen3-8B", tmp_path / "models")):
        config = read_model(name, base=base)
        assert config.values == CONFIG
        assert config.name == name
        assert not config.unknown


def test_the_hub_cache_is_read_without_the_network(tmp_path):
    snapshot = tmp_path / "hub/models--Qwen--Qwen3-8B/snapshots/abc"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text(json.dumps(CONFIG))
    config = read_model("Qwen/Qwen3-8B")
    assert config.values == CONFIG
    assert config.path == str(snapshot / "config.json")


def test_the_shipped_configs_come_last(tmp_path, monkeypatch):
    shipped = tmp_path / "fixtures/models/Qwen--Qwen3-8B"
    shipped.mkdir(parents=True)
    (shipped / "config.json").write_text(json.dumps(CONFIG))
    monkeypatch.setattr(models.ddtree_doctor.fixtures, "__path__", [str(tmp_path / "fixtures")])
    config = read_model("Qwen/Qwen3-8B")
    assert config.values == CONFIG
    assert config.path == f"{SHIPPED}models/Qwen--Qwen3-8B/config.json"


@pytest.mark.parametrize("name", ["Qwen/none", "/models/none", "", "a\0b", "x" * 9000, "../../..", "s3://bucket/model"])
def test_a_missing_model_is_unknown_by_name(name):
    config = read_model(name)
    assert config.values == {}
    assert "no config.json of" in config.unknown
    assert len(config.unknown) < 400


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_config_found_on_the_way_is_unknown_with_a_reason(folder, content):
    (folder / "config.json").write_bytes(content)
    config = read_model(str(folder))
    assert config.values == {}
    assert config.unknown.startswith(f"{folder}/config.json cannot be used: ")


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_config_that_the_user_named_is_a_usage_error(folder, content):
    (folder / "config.json").write_bytes(content)
    for named in (folder, folder / "config.json"):
        with pytest.raises(UsageError, match=r"give the model's config\.json or its folder") as refused:
            read_model("Qwen/Qwen3-8B", override=str(named))
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("named", ["absent.json", "\0", "", "/dev/null/x", "~nobody-of-that-name/x"])
def test_a_named_config_that_is_not_there_is_a_usage_error(named):
    with pytest.raises(UsageError):
        read_model("Qwen/Qwen3-8B", override=named)


def test_an_override_wins_over_the_model_itself(folder, tmp_path):
    (tmp_path / "other.json").write_text('{"hidden_size": 2}')
    assert read_model(str(folder), override="other.json").values == {"hidden_size": 2}


def test_a_loop_of_links_is_named(folder):
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("config.json")
    assert "symbolic links form a loop" in read_model(str(folder)).unknown


def test_a_pipe_is_not_waited_for(folder):
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")
    assert "no regular file" in read_model(str(folder)).unknown


def test_a_hundred_megabytes_are_refused_unread(folder):
    with (folder / "config.json").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    assert "104,857,600 bytes long" in read_model(str(folder)).unknown


def test_a_config_that_may_not_be_read_says_so(folder, monkeypatch):
    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(models.os, "open", denied)
    assert "Permission denied" in read_model(str(folder)).unknown
