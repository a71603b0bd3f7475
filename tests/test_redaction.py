"""Canaries: a secret in any position is gone, a fact that only looks like one stays."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddtree_doctor.redaction import HIDDEN, Redactor, is_secret_name, redact

CANARY = "cAnArY77secret"
POSITIONS = [
    "api_key='{}'",
    'admin_api_key="{}"',
    "api_key={}",
    "'api_key': '{}'",
    '"password": "{}",',
    'password="a\\"{}"',
    "password: {}",
    "passwd => {}",
    "HF_TOKEN={} python -m sglang.launch_server",
    "export OPENAI_API_KEY={}",
    "AWS_SECRET_ACCESS_KEY={}",
    "aws_secret_access_key = {}",
    "--api-key {} --tp 8",
    "--api-key={}",
    "['--api-key', '{}']",
    '["--ssl-keyfile-password", "{}"]',
    "Authorization: Bearer {}",
    "'authorization': 'Bearer {}'",
    "Authorization: Basic {}",
    "curl -H 'Authorization: {}'",
    "Bearer {}",
    "X-Api-Key: {}",
    "Set-Cookie: {}",
    "https://bob:{}@host/path",
    "https://{}@github.com/org/repo",
    "redis://:{}@10.0.0.1:6379/0",
    "postgres://bob:p@{}@host/db",
    "https://host/x?token={}&y=1",
    "https://bucket/x?X-Amz-Signature={}",
    "https://host/x?sig={}",
    "token={}",
    "auth_token: {}",
    "client_secret={}",
    "hf_{}000000000000",
    "sk-{}000000",
    "ghp_{}0000000000",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.{}",
    "-----BEGIN RSA PRIVATE KEY-----\\n{}\\n-----END RSA PRIVATE KEY-----",
    "passwd=***{}",
    "password='{}",
    "/home/{}/models/x",
    "/Users/{}/models",
    "/mnt/nfs/home/{}/x",
    r"C:\Users\{}\models",
    "user={}",
    "USER={}",
    '"username": "{}"',
    "{}@gpu-node-01:~$",
]
FACTS = [
    "speculative_num_draft_tokens=8",
    "max_total_num_tokens=123456, chunked_prefill_size=8192",
    "#token: 12345, token usage: 0.12",
    "tokenizer_path='/models/x', tokenizer_mode='auto'",
    "eos_token_id=151645, bos_token='<s>', mask_token='<m>'",
    "hot_token_id=5 speculative_token_map=None",
    "api_key=None, admin_api_key=None",
    "token=None",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1",
    "bmm_Bfloat16_Bfloat16Bfloat16_Fp32_t128x16x128_s6_et128x16_m128x16x16_cga1x1x1_16dp256b_dynB_sm100f",
    "commit 5f4dcc3b5aa765d61d8327deb882cf99aabbccdd",
    "https://github.com/sgl-project/sglang/issues/9140",
    'File "/usr/local/lib/python3.12/dist-packages/sglang/srt/managers/scheduler.py", line 10, in forward',
    "DeepseekV4ForCausalLMDSpark.compute_confidence",
    "@torch.no_grad()",
]


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize(
    "around", ["{}", "[2026-01-01 00:00:00 TP0] INFO {} tail", "server_args=ServerArgs({}, tp_size=8)"]
)
def test_canary_is_gone(position, around):
    shown = redact(around.format(position.format(CANARY)))

    assert CANARY not in shown
    assert redact(shown) == shown


@pytest.mark.parametrize("fact", FACTS)
def test_fact_stays(fact):
    assert redact(fact) == fact


def test_a_user_name_learnt_from_a_home_directory_is_hidden_everywhere():
    redactor = Redactor()
    redactor.learn('File "/home/mwilson/sglang/a.py", line 1, in f')

    assert redactor.redact("started by mwilson on node mwilson-gpu") == "started by [user] on node [user]-gpu"


def test_a_common_account_name_is_not_hidden_everywhere():
    assert redact("/home/sglang/x loads sglang") == "~/x loads sglang"


@given(st.text())
@example("password='a' token=b /home/x/home/y api_key=api_key=z")
@example("://a@b@c://d@")
@example("token=***token=")
@example("user=user=user=")
@example("Bearer Bearer Bearer x")
@example("/home//home/a")
def test_redacting_twice_is_redacting_once(text):
    once = redact(text)

    assert redact(once) == once


PIECES = st.lists(
    st.sampled_from(
        [
            *POSITIONS,
            "=",
            ":",
            " ",
            "'",
            '"',
            "@",
            "/home/",
            "/root",
            "token",
            "password",
            "://",
            HIDDEN,
            "[user]",
            "~",
            "\\",
            "--",
            "\n",
        ]
    )
)


@given(PIECES)
def test_redacting_twice_is_redacting_once_on_what_looks_like_secrets(pieces):
    once = redact("".join(pieces))

    assert redact(once) == once


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("--api-key", True),
        ("HF_TOKEN", True),
        ("ssl_keyfile_password", True),
        ("admin_api_key", True),
        ("num_draft_tokens", False),
        ("tokenizer_path", False),
        ("token_map", False),
        ("WANDB_KEY", True),
    ],
)
def test_secret_names(name, secret):
    assert is_secret_name(name) is secret
