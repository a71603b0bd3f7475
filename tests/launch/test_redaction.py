import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch import read, read_command
from tests.launch.sample import OPTIONS

CANARY = "Canary-7f3a9b-Secret"

LEAKS = [
    "sglang serve m --api-key {0}",
    "sglang serve m --api-key={0}",
    "sglang serve m --api-key '{0}' --tp 8",
    'sglang serve m --api-key "{0}"',
    "sglang serve m --admin-api-key {0} --api {0}",
    "sglang serve m --api_key {0}",
    "sglang serve m --api-kye {0}",
    "sglang serve m --tp 8--api-key {0}",
    "sglang serve m --tp 8--api-key={0}",
    "sglang serve m --api-key{0}",
    "sglang serve m --hf-token {0} --my-password={0}",
    "sglang serve m --api-key \\ \n {0} --tp 8",
    "sglang serve m --tp 8 \\ # x\n --api-key {0}",
    "sglang serve m --tp 8\n --api-key {0}\n",
    "sglang serve m --tp 8 # {0}",
    "KEY={0}; sglang serve m --api-key $KEY",
    "FOO={0}; sglang serve m --api-key $FOO",
    "export FOO={0}; sglang serve m --api-key ${{FOO}}",
    "export FOO={0}; export HF_TOKEN=$FOO; sglang serve m",
    "export FOO={0}; sglang serve a; sglang serve b --api-key $FOO",
    "HF_TOKEN={0} sglang serve m",
    "export OPENAI_API_KEY={0} AWS_SECRET_ACCESS_KEY='{0}'; sglang serve m",
    "env DB_PASSWORD={0} sglang serve m",
    "sglang serve m --x ${{HF_TOKEN:-{0}}} --y ${{HF_TOKEN:={0}}} --z $HF_TOKEN",
    "A_TOKEN+=({0} {0}); sglang serve m --x ${{A_TOKEN[@]}}",
    "docker run -e HF_TOKEN={0} --env=API_KEY={0} -eMY_SECRET={0} i sglang serve m",
    "srun --export=ALL,HF_TOKEN={0} sglang serve m",
    "docker login -p {0}; sshpass -p {0} ssh h 'sglang serve m --api-key {0}'",
    "bash -c 'API_KEY={0} sglang serve m --api-key $API_KEY'",
    "sglang serve m --x $(curl -H 'Authorization: {0}' u) --y `cat {0}`",
    "sglang serve https://u:{0}@host/m --x 'http://h/?token={0}'",
    'sglang serve m --json-model-override-args \'{{"api_key": "{0}"}}\'',
    "if a; then API_KEY={0}; fi; sglang serve m --api-key $API_KEY --served-model-name {0}x",
    "A=(--api-key {0}); if b; then A+=(--admin-api-key {0}); fi; sglang serve m ${{A[@]}}",
    "sglang serve m --api-key <{0}>",
    "curl -d {0} u\nsglang serve m",
    "services:\n a:\n  environment:\n   HF_TOKEN: {0}\n   - x\n",
    "services:\n  a:\n    environment: {{HF_TOKEN: {0}, B: 1}}\n    command: sglang serve m --api-key {0}\n",
    "spec:\n containers:\n - command: [sglang, serve, m, --x, $(A_TOKEN)]\n   env: [{{name: A_TOKEN, value: {0}}}]\n",
    "[Service]\nEnvironment=HF_TOKEN={0} 'API_KEY={0}'\nExecStart=sglang serve m --api-key {0} --x ${{API_KEY}}\n",
    "sglang serve m --api-key '{0}",
    "sglang serve m --api-key {0} 'x",
    "API_KEY={0}",
]


@pytest.mark.parametrize("template", LEAKS)
def test_a_secret_is_in_nothing_that_reading_gives(template):
    try:
        found = repr(read(template.format(CANARY).encode(), OPTIONS, "run.sh"))
        assert "***" in found or "#" in template or "curl" in template
    except UsageError as error:
        found = repr(error) + str(error)
    assert CANARY not in found


@pytest.mark.parametrize("template", LEAKS)
def test_a_secret_is_in_nothing_without_an_engine_either(template):
    try:
        found = repr(read(template.format(CANARY).encode(), ()))
    except UsageError as error:
        found = str(error)
    assert CANARY not in found


secrets = st.text(st.sampled_from("abcXYZ0123456789-_./+"), min_size=12, max_size=30).map(lambda text: "q" + text)
places = st.sampled_from(
    ["--api-key {0}", "--api-key={0}", "--admin-api-key '{0}'", "--tp 8--api-key {0}", "--api-key \\ \n{0}"]
)
others = st.sampled_from(
    [
        "--tp 8",
        "--x 'y z'",
        "--trust-remote-code",
        "\\\n",
        "# z\n",
        "\n",
        "--api-key",
        "$A",
        "'",
        "--served-model-name {0}",
    ]
)


@given(secret=secrets, before=st.lists(others, max_size=4), place=places, after=st.lists(others, max_size=4))
def test_no_fault_around_a_secret_lets_it_through(secret, before, place, after):
    text = " ".join(["export A_TOKEN={0}; sglang serve m", *before, place, *after]).format(secret)
    try:
        found = repr(read(text.encode(), OPTIONS))
    except UsageError as error:
        found = str(error)
    assert secret not in found


@given(secret=secrets)
def test_a_secret_on_the_command_line_is_hidden(secret):
    found = read_command(["env", f"HF_TOKEN={secret}", "sglang", "serve", "m", "--api-key", secret], OPTIONS)
    assert secret not in repr(found)
    assert found.flag("api_key").value == "***"
    assert found.environment == {"HF_TOKEN": "***"}
