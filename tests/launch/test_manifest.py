import pytest

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.manifest import is_manifest
from tests.launch.sample import flags, kinds, launch, launches

COMPOSE = """\
x-base: &base
  image: lmsysorg/sglang:latest
  environment:
    - A=1
    - PASSED_ON
    - B=${B:-2}
services:
  one:
    <<: *base
    entrypoint: python3 -m sglang.launch_server
    command: >
      --model-path ${MODEL}
      --tp ${TP:-8}
      --served-model-name "a b"
  two:
    <<: *base
    environment: {C: 3, D: null}
    command: ["sglang", "serve", "m", "--host=$$HOST"]
  three:
    image: redis
    command: redis-server
  four:
    entrypoint: ["bash", "-c"]
    command:
      - |
        cd /x
        sglang serve m \\
          --tp 8
"""

POD = """\
apiVersion: v1
kind: List
items:
- kind: Deployment
  spec:
    template:
      spec:
        containers:
        - name: sglang
          command: ["python3", "-m", "sglang.launch_server"]
          args:
          - --tp
          - $(TP)
          - --model-path=$(MODEL)
          - --dist-init-addr
          - $(LEADER):5000
          env:
          - {name: TP, value: "8"}
          - name: MODEL
            value: /models/$(NAME)
          - name: RANK
            valueFrom: {fieldRef: {fieldPath: x}}
        - name: helper
          image: busybox
---
kind: Pod
spec:
  containers:
  - command: [sh, -c]
    args: ["exec sglang serve m --tp $TP --node-rank $(RANK)"]
    env: [{name: TP, value: "4"}]
---
kind: ConfigMap
data:
  note: "python -m sglang.launch_server is not run"
  run.sh: |
    #!/bin/bash
    sglang serve n
"""


def test_compose_services_are_read_with_their_entrypoint_and_environment():
    one, two, four = launches(COMPOSE)
    assert flags(one) == [("--model-path", "$MODEL"), ("--tp", "8"), ("--served-model-name", "a b")]
    assert (one.environment, list(one.unknown)) == ({"A": "1", "B": "2"}, ["model_path"])
    assert flags(two) == [("--model-path", "m"), ("--host", "$HOST")]
    assert two.environment == {"C": "3"}
    assert flags(four) == [("--model-path", "m"), ("--tp", "8")]
    assert [flag.location.line for flag in four.flags] == [27, 28]
    assert [note.text[:3] for note in one.notes] == ["$TP", "$B "]


def test_kubernetes_containers_are_read_with_their_variables():
    first, second, script = launches(POD, "pod.yaml")
    assert flags(first)[:2] == [("--tp", "8"), ("--model-path", "/models/$(NAME)")]
    assert set(first.unknown) == {"model_path", "dist_init_addr", "env MODEL", "env RANK"}
    assert first.flag("tp_size").location.line == 12
    assert flags(second) == [("--model-path", "m"), ("--tp", "4"), ("--node-rank", "$(RANK)")]
    assert flags(script) == [("--model-path", "n")]
    assert script.location.line == 38


def test_backslashes_in_a_folded_string_put_blanks_into_words():
    text = "services:\n  a:\n    command: >\n      sglang serve m \\\n      --tp 8 \\\n      --port 1\n"
    found = launch(text)
    assert kinds(found)[0] == "stray-backslash"
    assert flags(found.intended) == [("--model-path", "m"), ("--tp", "8"), ("--port", "1")]


@pytest.mark.parametrize(
    ("text", "file", "expected"),
    [
        ("sglang serve m", "x.yml", True),
        ("services:\n  a: {}", None, True),
        ("apiVersion: v1\nkind: Pod", "pod.txt", True),
        ("#!/bin/bash\nkind: x", None, False),
        ("sglang serve m --spec: x", None, False),
    ],
)
def test_yaml_is_known_by_its_name_or_its_keys(text, file, expected):
    assert is_manifest(text, file) is expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("services:\n  a: [\n", r"^x.yaml:\d: no YAML"),
        ("kind: {{ .Values.kind }}\n  x: y\n", r"^x.yaml:\d: no YAML.*render templates"),
        ("services:\n  a:\n    command: sglang serve 'm\n", r"^x.yaml:3: unterminated quote"),
        ('services:\n  a:\n    command: bash -c "sglang serve \'m"\n', r"^x.yaml:3: unterminated single quote"),
        ("services: {a: {image: x}}\n", "^x.yaml: no launch command"),
        ("services: 3\n", "^x.yaml: no launch command"),
        ("services: {a: 3, b: {command: 4, environment: 5}}\n", "^x.yaml: no launch command"),
        ("spec: " + "[" * 9000, "^x.yaml:1: (nested more than|no YAML: exceeded maximum nesting)"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused_with_its_line(text, message):
    with pytest.raises(UsageError, match=message):
        launches(text, "x.yaml")
