def test_a_machine_without_a_gpu_is_a_normal_state(doctor, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert doctor("env") == 0
    assert "GPUs" in doctor.out
    assert doctor.err == ""


def test_another_machine_can_be_named(doctor):
    assert doctor("env", "--gpu", "sm_120x8", "--json", "-") == 0
    assert len(doctor.report["host"]["gpus"]) == 8
    assert doctor("env", "--gpu", "sm_999999x8") == 2


def test_the_plugin_s_algorithm_is_shown(doctor):
    assert doctor("env", "--plugin", "ddtree") == 0
    assert "DDTREE (plugin)" in doctor.out


def test_an_unknown_plugin_is_refused_with_the_known_ones(doctor):
    assert doctor("env", "--plugin", "nope") == 2
    assert "ddtree" in doctor.err


def test_facts_that_were_brought_along_are_not_called_installed(doctor):
    assert doctor("env", "--sglang", "0.5.23") == 0
    assert "brings along" in " ".join(doctor.out.split())
