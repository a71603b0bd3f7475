import time

import pytest

from ddtree_doctor.launch.secrets import Vault, is_secret_name, redact_text, secret_option


@pytest.mark.parametrize(
    "name",
    [
        *("--api-key", "--admin-api-key", "api_key", "apikey", "OPENAI_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"),
        *("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "DB_PASSWORD", "PASSWD", "CLIENT_SECRET", "GOOGLE_CREDENTIALS"),
        *(
            "--ssl-keyfile-password",
            "watermark_key_b",
            "token",
            "hf-token",
            "NGC_API_KEY",
            "WANDB_KEY",
            "authorization",
        ),
    ],
)
def test_names_of_secrets(name):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("--speculative-num-draft-tokens", "--tokenizer-path", "--max-total-tokens", "--speculative-token-map"),
        *("--ssl-keyfile", "TOKENIZERS_PARALLELISM", "--skip-tokenizer-init", "KEYBOARD", "--mask-token", "monkey"),
        *("SGLANG_ENABLE_SPEC_V2", "--enable-tokenizer-batch-encode", "pad_token", "--draft-token"),
    ],
)
def test_names_of_no_secrets(name):
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("https://user:canary@host/x", "https://***@host/x"),
        ("http://host/x?a=1&token=canary&b=2", "http://host/x?a=1&token=***&b=2"),
        ('{"api_key": "canary", "a": "b"}', '{"api_key": "***", "a": "b"}'),
        ("{'password':'canary'}", "{'password':\"***\"}"),
        ("Authorization: Bearer canarycanary", "Authorization: Bearer ***"),
        ("x hf_" + "a" * 30 + " y", "x *** y"),
        ("sk-" + "a" * 30, "***"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ('{"max_tokens": 8}', '{"max_tokens": 8}'),
        ("http://host:30000/x?y=1", "http://host:30000/x?y=1"),
    ],
)
def test_what_is_secret_by_its_form_is_hidden(text, hidden):
    assert redact_text(text) == hidden


def test_a_secret_met_once_is_hidden_everywhere():
    vault = Vault()
    vault.keep("canary-1234")
    vault.keep("short")
    assert vault.scrub("a canary-1234 b short") == "a *** b short"


def test_an_option_glued_to_something_still_takes_a_secret():
    assert secret_option("8--api-key")
    assert not secret_option("--api-key=x y")
    assert not secret_option("8--tp")


@pytest.mark.parametrize(
    "text", ["a://" * 16000, "?" * 64000, "://;" * 16000, "eyJ-" * 16000, '"a":"' * 13000, "sk-" * 20000]
)
def test_no_word_takes_more_than_linear_time(text):
    begin = time.process_time()
    redact_text(text)
    assert time.process_time() - begin < 5
