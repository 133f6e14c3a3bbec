"""Vision Transformers: read from a folder, and fine-tuned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from cgscore.errors import OptionError
from cgscore.training import Scale, Settings, train
from cgscore.training.networks.vit import vision_transformer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Vision Transformer of tiny random weights, as a saved model."""
    transformers = pytest.importorskip("transformers")
    path = tmp_path_factory.mktemp("vit")
    config = transformers.ViTConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=12,
        patch_size=4,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        transformers.ViTForImageClassification(config).save_pretrained(path)
    transformers.ViTImageProcessor(
        size={"height": 12, "width": 12}, image_mean=[0.1, 0.2, 0.3], image_std=[0.5, 0.6, 0.7]
    ).save_pretrained(path)
    return path


def test_a_vision_transformer_is_read_from_its_folder(folder: Path) -> None:
    from transformers import ViTModel

    state = torch.get_rng_state()
    model = vision_transformer(str(folder), 4).eval()
    assert torch.equal(torch.get_rng_state(), state)
    true = ViTModel.from_pretrained(folder, add_pooling_layer=False).eval()
    x = torch.randn(2, 3, 12, 12, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert torch.equal(model.features(x), true(x).last_hidden_state[:, 0])
        larger = torch.nn.functional.interpolate(x, (20, 20), mode="bicubic")
        fitted = torch.nn.functional.interpolate(larger, (12, 12), mode="bicubic", antialias=True)
        assert torch.allclose(model.features(larger), model.features(fitted))
        grey = x[:, :1]
        assert torch.equal(model.features(grey), model.features(grey.expand(-1, 3, -1, -1)))
        assert torch.equal(model(x), torch.zeros(2, 4))  # the new layer knows nothing yet
    assert model.scale == Scale((0.1, 0.2, 0.3), (0.5, 0.6, 0.7))


def test_a_vision_transformer_is_fine_tuned(folder: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(16) % 2
    X = (rng.random((16, 6, 6)) * 100 + 150 * y[:, None, None]).astype(np.uint8)
    given = vision_transformer(str(folder), 2)
    settings = Settings(6, 0.01, 8, "adam", weight_decay=0.0, schedule="constant")
    found = train(given, X, y, settings=settings)
    assert found.scale == given.scale
    assert found.records is not None
    assert found.records.loss[-1].mean() < found.records.loss[0].mean()
    for name, weight in given.named_parameters():  # not the last layer alone
        if name.endswith("query.weight") or "patch_embeddings" in name:
            assert not torch.equal(weight, found.model.get_parameter(name)), name


def test_what_is_no_vision_transformer(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file
    from transformers import BertConfig

    BertConfig().save_pretrained(tmp_path / "text")
    with pytest.raises(OptionError, match=r"type 'bert'. Expected 'vit'"):
        vision_transformer(str(tmp_path / "text"), 2)
    with pytest.raises(OptionError, match="transformers cannot load"):
        vision_transformer(str(tmp_path / "nothing"), 2)
    weights = load_file(folder / "model.safetensors")
    for name in ("pickled", "lacking"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_bytes((folder / "config.json").read_bytes())
    torch.save(weights, tmp_path / "pickled" / "pytorch_model.bin")
    incomplete = {name: value for name, value in weights.items() if "layernorm" not in name}
    save_file(incomplete, tmp_path / "lacking" / "model.safetensors")
    with pytest.raises(OptionError, match="safetensors"):
        vision_transformer(str(tmp_path / "pickled"), 2)
    with pytest.raises(OptionError, match="lacks the weights of"):
        vision_transformer(str(tmp_path / "lacking"), 2)
