"""No key stands in what is said about an error."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from langchain_ctxcompress.summarize.secrets import without_secrets

KEYS = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=6, max_size=60)
PLAIN = st.sampled_from(["", " ", "error: ", "who are you", "\n"])


@given(KEYS, PLAIN, PLAIN)
def test_the_models_own_key_is_masked_wherever_it_stands(key: str, before: str, after: str) -> None:
    model = ChatOpenAI(model="m", api_key=SecretStr(key), base_url="http://127.0.0.1:1")
    for held in (model, model.bind(stop=["x"]), model.with_retry()):
        assert without_secrets(f"{before}{key}{after}", held) == f"{before}[key]{after}"


def test_what_looks_like_a_key_is_masked_without_a_model() -> None:
    said = "401: sk-proj-0123456789abcdefXYZ and Bearer abc.def-ghi"
    assert without_secrets(said, None) == "401: [key] and Bearer [key]"


@given(st.text())
def test_any_text_without_a_key_stays_as_it_is(text: str) -> None:
    if not any(mark in text for mark in ("sk", "pk", "rk", "xai", "hf", "AIza", "AKIA", "earer ")):
        assert without_secrets(text, object()) == text
