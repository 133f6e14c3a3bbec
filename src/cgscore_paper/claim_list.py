"""All claims of the paper, in its order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cgscore_paper.appendix_b import PAPER_OFFSET, READINGS, best_offset
from cgscore_paper.appendix_e import PAPER_SHARE
from cgscore_paper.claims import Claim, Document, Documents, measured_claim, number_claim
from cgscore_paper.datasets import SOURCES
from cgscore_paper.figures import MIN_REPEATS, SCORES
from cgscore_paper.networks import NETWORKS
from cgscore_paper.pruning_curves import DATASETS, SMALL_LOSS

#: Smaller differences of the accuracies of one or two trainings are not judged: two deviations of
#: the difference of two trainings, of which each deviates by 0.0025 (figure 2, by three trainings).
SMALL = 0.007
#: Below this an AUROC is no better than chance with some error.
CHANCE = 0.55

Numbers = Mapping[str, Any]
Found = tuple[str, str, Sequence[bool | None]]


def all_claims(documents: Documents) -> list[Claim]:
    """The claims, tested by the numbers of those items that are there."""
    makers: dict[str, Callable[[Document], list[Claim]]] = {
        "theorem-1": _theorem_1,
        "figure-1": _figure_1,
        "table-1": _table_1,
        "figure-2": _figure_2,
        "figure-3": _figure_3,
        "figure-4": _figure_4,
        "appendix-a": _appendix_a,
        "appendix-b": _appendix_b,
        "appendix-c": _appendix_c,
        "appendix-d": _appendix_d,
        "appendix-e": _appendix_e,
        "appendix-f": _appendix_f,
        "appendix-g": _appendix_g,
        "appendix-h": _appendix_h,
        "appendix-j": _appendix_j,
    }
    return [claim for name, make in makers.items() for claim in make(documents.get(name, ({}, ())))]


def _theorem_1(document: Document) -> list[Claim]:
    numbers, _ = document

    def loss() -> Found:
        errors = [one["loss_error"] for one in numbers["problems"].values()]
        smaller = [one["loss_error"] < one["narrow_loss_error"] for one in _problems(numbers)]
        return (
            f"off by at most {max(errors):.3f} of the start, less than at a tenth of the width",
            f"200 images, width {numbers['width']:,}, 3 problems",
            smaller,
        )

    def movement() -> Found:
        shares = [one["movement"][-1] / one["movement_bound"] for one in _problems(numbers)]
        return (
            f"{min(shares):.2f} to {max(shares):.2f} of the bound",
            f"200 images, width {numbers['width']:,}, 3 problems",
            [share <= 1 for share in shares],
        )

    def test_loss() -> Found:
        pairs = [(one["test_loss"], one["test_bound"]) for one in _problems(numbers)]
        return (
            ", ".join(f"{loss:.2f} (bound {bound:.2f})" for loss, bound in pairs),
            "500 test images, 3 problems; bounds above 1 say nothing",
            [loss <= bound for loss, bound in pairs],
        )

    where = "theorem 1 (from Arora et al.)"
    return [
        measured_claim("The eigenvectors of H predict the loss", where, "up to a constant", loss),
        measured_claim("Weights move by no more than the complexity", where, "bound", movement),
        measured_claim("The complexity bounds the test loss", where, "bound", test_loss),
    ]


def _problems(numbers: Numbers) -> list[Numbers]:
    return list(numbers["problems"].values())


def _figure_1(document: Document) -> list[Claim]:
    numbers, _ = document
    size = "2,000 examples, exact, one draw"
    return [
        measured_claim(
            "The inverse of H is about 2 I",
            "figure 1a",
            "2 on the diagonal, 0 off it",
            lambda: (
                f"{numbers['inverse']['diagonal']:.2f} and {numbers['inverse']['off_diagonal']:.3f}"
                " (mean sizes)",
                size,
                [abs(numbers["inverse"]["diagonal"] - 2) < 0.5],
            ),
        ),
        measured_claim(
            "The linear part of the approximation gives the order of scores",
            "section 3.3",
            "main term",
            lambda: (
                f"rank correlation {numbers['clean']['spearman_of_linear_part']:.2f}, with "
                f"flipped labels {numbers['noisy']['spearman_of_linear_part']:.2f}",
                size,
                [numbers[of]["spearman_of_linear_part"] > 0.8 for of in ("clean", "noisy")],
            ),
        ),
        measured_claim(
            "The whole approximation holds well",
            "section 3.3",
            "may hold well",
            lambda: (
                f"rank correlation {numbers['clean']['spearman_of_approximation']:.2f}, with "
                f"flipped labels {numbers['noisy']['spearman_of_approximation']:.2f}",
                size,
                [numbers[of]["spearman_of_approximation"] > 0.8 for of in ("clean", "noisy")],
            ),
        ),
        measured_claim(
            "Examples near the boundary have higher scores",
            "figure 1b",
            "higher",
            lambda: (
                "rank correlation with the distance "
                f"{numbers['clean']['spearman_with_distance']:.2f}",
                size,
                [numbers["clean"]["spearman_with_distance"] < 0],
            ),
        ),
        measured_claim(
            "Flipped labels have higher scores",
            "figure 1c",
            "higher",
            lambda: (
                f"AUROC {numbers['noisy']['auroc_of_flipped']:.3f}",
                size,
                [numbers["noisy"]["auroc_of_flipped"] > CHANCE],
            ),
        ),
    ]


def _table_1(document: Document) -> list[Claim]:
    numbers, compared = document

    def stronger() -> Found:
        parts: list[bool | None] = []
        shown, sizes = [], []
        for name in ("cifar-10", "cifar-100"):
            of = _first(numbers.get(name, {}), ("plain", "trained_on"))
            for by in ("c_score", "forgetting", "el2n"):
                known = of is not None and by in of["cg"]
                parts.append(abs(of["cg"][by]) > abs(of["cg_prime"][by]) if known else None)
            if of is not None:
                pairs = [f"{of['cg'][by]:.2f}/{of['cg_prime'][by]:.2f}" for by in of["cg"]]
                shown.append(f"{SOURCES[name].title} {', '.join(pairs)}")
                sizes.append(f"{of['examples']:,}")
        text = f"{'; '.join(shown)} (CG/CG')" if shown else ""
        return text, ", ".join(dict.fromkeys(sizes)), parts

    return [
        number_claim("Rank correlations of CG and CG' with other scores", "table 1", compared),
        measured_claim(
            "CG correlates more with other scores than CG'", "table 1", "6 of 6", stronger
        ),
    ]


def _first(parts: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((parts[name] for name in names if name in parts), None)


def _samples(numbers: Numbers, dataset: str, order: str, by: str, share: float) -> list[float]:
    """The accuracies with a share removed, none if that is not tested."""
    of = numbers.get(dataset, {})
    each = of.get(order, {}).get(by, {}).get("each")
    return list(each[of["removed"].index(share)]) if each and share in of["removed"] else []


def above(first: Sequence[float], second: Sequence[float], margin: float = 0.0) -> bool | None:
    """Whether accuracies are higher than others by more than a margin; None if it is undecided.

    With `MIN_REPEATS` or more trainings of both, the difference from the margin has to exceed two
    standard errors, in either direction. With fewer, it has to exceed `SMALL`.
    """
    gap, least = float(np.mean(first) - np.mean(second)) - margin, SMALL
    if min(len(first), len(second)) >= MIN_REPEATS:
        errors = [np.var(sample, ddof=1) / len(sample) for sample in (first, second)]
        least = 2 * float(np.sqrt(sum(errors)))
    return gap > 0 if abs(gap) > least else None


def _compare(
    numbers: Numbers, dataset: str, order: str, other: str, margin: float = 0.0, sign: int = 1
) -> tuple[bool | None, str]:
    """Whether CG is above another score at all shares, or below with a sign of -1; and the gaps."""
    by = _cg(numbers, dataset)
    parts, shown = [], []
    for share in numbers.get(dataset, {}).get("removed", [])[1:]:
        pair = [_samples(numbers, dataset, order, one, share) for one in (by, other)]
        if all(pair):
            first, second = pair[::sign]
            parts.append(above(first, second, margin))
            gap = np.mean(pair[0]) - np.mean(pair[1])
            trainings = min(map(len, pair))
            shown.append(f"{100 * share:.0f} %: {gap:+.4f} ({trainings})")
    decided = [part for part in parts if part is not None]
    return (all(decided) if decided else None), ", ".join(shown)


def _everywhere(
    numbers: Numbers,
    order: str,
    others: Sequence[str],
    margin: float = 0.0,
    sign: int = 1,
    names: Sequence[str] = DATASETS,
) -> Found:
    """`_compare` of datasets and other scores; C-scores are published for CIFAR only."""
    parts: list[bool | None] = []
    shown = []
    for dataset in names:
        for other in others:
            if dataset == "fashion-mnist" and other == "c_score":
                continue
            part, gaps = _compare(numbers, dataset, order, other, margin, sign)
            parts.append(part)
            title = NETWORKS.get(dataset) or SOURCES[dataset].title
            shown += [f"{title}, {SCORES[other][0]}: {gaps}"] if gaps else []
    text = f"CG - other (trainings): {'; '.join(shown)}" if shown else ""
    return text, _sizes(numbers), parts


def _full(numbers: Numbers, dataset: str) -> list[float]:
    each = numbers.get(dataset, {}).get("full", {}).get("each")
    return list(each[0]) if each else []


def _cg(numbers: Numbers, dataset: str) -> str:
    """The CG-score that prunes: exact where that is tested."""
    exact = numbers.get(dataset, {}).get("low-first", {}).get("exact_cg", {})
    return "exact_cg" if any(one is not None for one in exact.get("mean", [])[1:]) else "cg"


def _figure_2(document: Document) -> list[Claim]:
    numbers, _ = document
    by_training = ("c_score", "el2n", "forgetting")

    def harmless(dataset: str, share: float) -> Callable[[], Found]:
        def find() -> Found:
            by = _cg(numbers, dataset)
            kept, full = _samples(numbers, dataset, "low-first", by, share), _full(numbers, dataset)
            if not kept or not full:
                return "", "", [None]
            lost = np.mean(full) - np.mean(kept)
            return (
                f"{np.mean(kept):.4f} against {np.mean(full):.4f}: {lost:.4f} lost",
                f"{numbers[dataset]['examples']:,}; {len(kept)} and {len(full)} trainings",
                [above(kept, full, -SMALL_LOSS)],
            )

        return find

    return [
        measured_claim(
            "40 % of CIFAR-10, lowest CG first, can go",
            "abstract, figure 2a",
            "less than 1 % lost",
            harmless("cifar-10", 0.4),
        ),
        measured_claim(
            "20 % of CIFAR-100, lowest CG first, can go",
            "figure 2a",
            "less than 1 % lost",
            harmless("cifar-100", 0.2),
        ),
        measured_claim(
            "Pruning low CG first is better than at random",
            "figure 2a",
            "above, 3 datasets",
            lambda: _everywhere(numbers, "low-first", ["random"]),
        ),
        measured_claim(
            "CG prunes about as well as scores by training",
            "figure 2a",
            "competitive",
            lambda: _everywhere(numbers, "low-first", by_training, -SMALL_LOSS),
        ),
        measured_claim(
            "Pruning high CG first is worse than at random",
            "figure 2b",
            "below, 3 datasets",
            lambda: _everywhere(numbers, "high-first", ["random"], sign=-1),
        ),
        measured_claim(
            "Of all scores CG, high first, loses most",
            "figure 2b",
            "drops most",
            lambda: _everywhere(numbers, "high-first", by_training, sign=-1),
        ),
    ]


def _sizes(numbers: Numbers) -> str:
    counts = sorted({of["examples"] for of in numbers.values() if "examples" in of})
    trainings = {
        len(each)
        for of in numbers.values()
        for order in ("low-first", "high-first")
        for one in of.get(order, {}).values()
        for each in one["each"][1:]
        if each
    }
    shown = ", ".join(f"{count:,}" for count in counts)
    if not trainings:
        return shown
    span = " to ".join(str(count) for count in sorted({min(trainings), max(trainings)}))
    return f"{shown}; {span} training{'s' * (max(trainings) > 1)}"


def _auroc(numbers: Numbers, part: str, dataset: str, by: str) -> float:
    return float(numbers[part][dataset]["scores"][by]["auroc"])


def _figure_3(document: Document) -> list[Claim]:
    numbers, _ = document
    other = "cifar-100" if "cifar-100" in numbers.get("whole", {}) else "cifar-10"
    title = SOURCES[other].title

    def size(part: str) -> str:
        return ", ".join(f"{of['examples']:,}" for of in numbers[part].values())

    def higher() -> Found:
        rates = {name: _auroc(numbers, "whole", name, "cg") for name in numbers["whole"]}
        shown = ", ".join(f"{SOURCES[name].title} {rate:.3f}" for name, rate in rates.items())
        return f"AUROC {shown}", size("whole"), [rate > CHANCE for rate in rates.values()]

    def simpler() -> Found:
        pair = [_auroc(numbers, "whole", name, "cg") for name in ("fashion-mnist", other)]
        shown = f"AUROC {pair[0]:.3f} against {pair[1]:.3f} ({title})"
        return shown, size("whole"), [pair[0] > pair[1]]

    def oracle() -> Found:
        found = numbers["whole"]["fashion-mnist"]["scores"]
        share = found["cg"]["found_among_as_many"]
        known = numbers["trained_on"].get("fashion-mnist", {}).get("scores", {})
        others = {by: known[by]["auroc"] for by in ("forgetting", "el2n") if by in known}
        best = None if len(others) < 2 else known["cg"]["auroc"] >= max(others.values())
        shown = f"{share:.3f} of the wrong labels among as many"
        shown += "".join(f"; {by} AUROC {value:.3f}" for by, value in others.items())
        return shown, size("whole"), [share > 0.8, best]

    def competitive() -> Found:
        known = numbers["trained_on"][other]["scores"]
        best = max(known[by]["auroc"] for by in ("forgetting", "el2n"))
        shown = f"AUROC {known['cg']['auroc']:.3f} against {best:.3f} ({title})"
        return shown, size("trained_on"), [known["cg"]["auroc"] > best - 0.05]

    def similar() -> Found:
        gaps = {
            name: _auroc(numbers, "whole", name, "partial") - _auroc(numbers, "whole", name, "cg")
            for name in numbers["whole"]
        }
        shown = ", ".join(f"{SOURCES[name].title} {gap:+.3f}" for name, gap in gaps.items())
        return (
            f"AUROC of partial - CG: {shown}",
            size("whole"),
            [abs(gap) < 0.03 for gap in gaps.values()],
        )

    return [
        measured_claim("Wrong labels have higher CG", "figure 3a", "higher", higher),
        measured_claim(
            "Wrong labels are better separated in FMNIST than in CIFAR-100",
            "figure 3a, 3b",
            "better",
            simpler,
        ),
        measured_claim(
            "CG finds wrong labels best in FMNIST, near the oracle", "figure 3b", "best", oracle
        ),
        measured_claim("CG is competitive in CIFAR-100", "figure 3b", "competitive", competitive),
        measured_claim("CG and its second term find alike", "figure 3b", "similar", similar),
    ]


def _figure_4(document: Document) -> list[Claim]:
    numbers, _ = document

    def slope(*names: str, sign: int) -> Callable[[], Found]:
        def find() -> Found:
            rho = {name: numbers["spearman"][name] for name in names}
            shown = ", ".join(f"{name} {value:+.2f}" for name, value in rho.items())
            size = f"{numbers['examples']:,}; 1 training"
            return (
                f"rank correlation with the tenth: {shown}",
                size,
                [sign * r > 0.2 for r in rho.values()],
            )

        return find

    return [
        measured_claim(
            "Examples of high CG are learned more slowly (loss)",
            "figure 4a",
            "slower",
            slope("loss, mean over epochs", "loss, last epoch", sign=1),
        ),
        measured_claim(
            "The same for accuracy",
            "figure 4b",
            "slower",
            slope("accuracy, mean over epochs", "accuracy, last epoch", sign=-1),
        ),
        measured_claim(
            "Examples of high CG keep a higher kernel velocity",
            "figure 4c",
            "higher",
            slope("kernel velocity, mean over epochs", sign=1),
        ),
    ]


def _appendix_a(document: Document) -> list[Claim]:
    numbers, compared = document

    def rises() -> Found:
        last = [numbers["correlations"]["spearman"][str(ratio)][-1] for ratio in (1, 2, 3, 4)]
        late = [
            numbers["correlations"]["spearman"][str(ratio)][-1]
            - numbers["correlations"]["spearman"][str(ratio)][-6]
            for ratio in (1, 2, 3, 4)
        ]
        return (
            f"Spearman {', '.join(f'{one:.3f}' for one in last)}; the last five runs add at most "
            f"{max(late):.3f}",
            f"{numbers['examples']:,}; {numbers['runs']} runs",
            [last == sorted(last), max(late) < 0.01],
        )

    return [
        number_claim("Correlations of the estimator with exact scores", "appendix A", compared),
        measured_claim(
            "Correlations converge with runs and rise with the ratio",
            "appendix A",
            "both",
            rises,
        ),
    ]


def _appendix_b(document: Document) -> list[Claim]:
    numbers, compared = document

    def peak(reading: str) -> Callable[[], Found]:
        def find() -> Found:
            found = {
                name: best_offset(numbers["windows"][name], reading)
                if name in numbers["windows"]
                else None
                for name in ("fashion-mnist", "cifar-10")
            }
            shown = [
                f"{SOURCES[name].title} {best} %"
                for name, best in found.items()
                if best is not None
            ]
            sizes = [f"{of['examples']:,}" for of in numbers["windows"].values()]
            parts = [
                None if best is None else abs(best - PAPER_OFFSET) <= 5 for best in found.values()
            ]
            return ", ".join(shown), ", ".join(sizes), parts

        return find

    claims = [
        number_claim(
            "Wrong and right labels by the sign and size of the partial score",
            "appendix B, table",
            compared,
        )
    ]
    claims += [
        measured_claim(
            f"Training on half is best from an offset of {PAPER_OFFSET} %, windows {label}",
            "appendix B",
            f"{PAPER_OFFSET} %, both datasets",
            peak(reading),
        )
        for reading, (_, label) in READINGS.items()
    ]
    return claims


def _appendix_c(document: Document) -> list[Claim]:
    numbers, _ = document

    def classes() -> Found:
        names = list(numbers["classes"]["cifar-100"]["names"])
        place = {name: names.index(name) + 1 for name in _CLASSES}
        shown = ", ".join(f"{name} {place[name]}" for name in _CLASSES)
        parts: list[bool | None] = [place[name] <= 20 for name in ("orange", "plain")]
        parts += [place[name] > 80 for name in ("bottle", "flatfish")]
        return f"place among 100 by the mean: {shown}", "50,000", parts

    return [
        measured_claim(
            "CIFAR-100: orange and plain have small means, bottle and flatfish large ones",
            "appendix C",
            "small, large",
            classes,
        ),
        Claim("Scores of ImageNet show regular and irregular classes", "appendix C", "shown"),
    ]


_CLASSES = ("orange", "plain", "bottle", "flatfish")


def _appendix_d(document: Document) -> list[Claim]:
    numbers, _ = document

    def grows() -> Found:
        seconds = numbers["seconds"]["cifar-100"]
        shown = [seconds[f"cg-{ratio}"] for ratio in (1, 2, 3, 4)]
        return (
            ", ".join(f"{one:.0f} s" for one in shown),
            "50,000; 1 run each",
            [shown == sorted(shown)],
        )

    return [
        measured_claim(
            "CIFAR-100: seconds grow slowly with the ratio, a minute at 1:4",
            "appendix D",
            "38 to 61 s (A100)",
            grows,
        )
    ]


def _appendix_e(document: Document) -> list[Claim]:
    numbers, _ = document

    def lasting() -> Found:
        by = _cg(numbers, "heads")
        share = numbers["heads"]["low-first"][by]["lasting"]
        return (
            f"less than {SMALL_LOSS} lost up to {100 * share:.0f} % (heads on efficientnet-lite0)",
            f"{numbers['heads']['examples']:,}",
            [share >= PAPER_SHARE],
        )

    def better(net: str) -> Callable[[], Found]:
        return lambda: _everywhere(numbers, "low-first", ["random"], names=[net])

    return [
        measured_claim(
            "A DenseNet shows the same trend", "appendix E", "above random", better("densenet")
        ),
        measured_claim(
            "A pretrained network keeps its accuracy with 90 % removed",
            "appendix E",
            "maintained",
            lasting,
        ),
        measured_claim(
            "There CG is better than random", "appendix E", "significantly", better("heads")
        ),
    ]


def _appendix_f(document: Document) -> list[Claim]:
    numbers, _ = document
    pruning = {name: of["pruning"] for name, of in numbers.items() if "pruning" in of}

    def noise(dataset: str, sign: int) -> Callable[[], Found]:
        def find() -> Found:
            scores = numbers[dataset]["detection"]["scores"]
            pair = [scores[by]["auroc"] for by in ("cg", "self_influence")]
            size = f"{numbers[dataset]['detection']['examples']:,}"
            shown = f"AUROC {pair[0]:.3f} against {pair[1]:.3f}"
            return shown, size, [sign * (pair[0] - pair[1]) > 0]

        return find

    return [
        measured_claim(
            "CG prunes better than TracIn",
            "appendix F",
            "better",
            lambda: _everywhere(pruning, "low-first", ["tracin"]),
        ),
        measured_claim(
            "CG prunes about as well as CRAIG",
            "appendix F",
            "competitive",
            lambda: _everywhere(pruning, "low-first", ["craig"], -SMALL_LOSS),
        ),
        measured_claim(
            "CG finds more wrong labels than TracIn in FMNIST",
            "appendix F",
            "more",
            noise("fashion-mnist", 1),
        ),
        measured_claim(
            "TracIn finds more in CIFAR-100", "appendix F", "more", noise("cifar-100", -1)
        ),
    ]


def _appendix_g(document: Document) -> list[Claim]:
    numbers, _ = document

    def effective() -> Found:
        parts: list[bool | None] = []
        shown, sizes = [], []
        for rate, by_dataset in numbers["detection"].items():
            for name, of in by_dataset.items():
                if "whole" in of:
                    value = of["whole"]["scores"]["cg"]["auroc"]
                    parts.append(value > CHANCE)
                    shown.append(f"{SOURCES[name].title} {rate} {value:.3f}")
                    sizes.append(f"{of['whole']['examples']:,}")
        return f"AUROC {', '.join(shown)}", ", ".join(dict.fromkeys(sizes)), parts or [None]

    return [
        measured_claim(
            "CG finds wrong labels at 50 % and 80 % too", "appendix G", "effective", effective
        )
    ]


def _appendix_h(document: Document) -> list[Claim]:
    numbers, _ = document

    def along(by: str, first: bool) -> Callable[[], Found]:
        def find() -> Found:
            found = numbers["cifar-10"]["correlation"]
            rho = found["spearman"].get(by) or found["spearman"]["exact_cg"]
            best = found["epochs"][rho.index(max(rho))]
            shown = f"highest after epoch {best} of {found['epochs']}"
            return shown, "50,000; 1 training", [(best == found["epochs"][0]) == first]

        return find

    def better(kind: str) -> Found:
        parts: list[bool | None] = []
        shown = []
        for name in ("fashion-mnist", "cifar-10", "cifar-100"):
            of = numbers.get(name, {})
            pixels = "pixel_cg" if plain(of, kind, "pixel_cg") is not None else "exact_cg"
            pair = [plain(of, kind, by) for by in ("feature_cg", pixels)]
            if None in pair:
                parts.append(None)
                continue
            parts.append(pair[0] > pair[1])  # type: ignore[operator]
            shown.append(f"{SOURCES[name].title} {pair[0]:.4f} against {pair[1]:.4f}")
        return "; ".join(shown), "same estimator for both", parts

    def plain(of: Mapping[str, Any], kind: str, by: str) -> float | None:
        if kind == "pruning":
            value = of.get("pruning", {}).get("low-first", {}).get(by, {}).get("overall")
        else:
            value = of.get("detection", {}).get("scores", {}).get(by, {}).get("auroc")
        return None if value is None else float(value)

    return [
        measured_claim(
            "CG of features prunes better than CG of pixels",
            "appendix H",
            "better",
            lambda: better("pruning"),
        ),
        measured_claim(
            "CG of features finds more wrong labels",
            "appendix H",
            "superior",
            lambda: better("detection"),
        ),
        measured_claim(
            "Its correlation with CG of pixels is highest after the first epoch",
            "appendix H",
            "epoch 1",
            along("pixel_cg", True),
        ),
        measured_claim(
            "Its correlation with EL2N rises at first",
            "appendix H",
            "rises",
            along("el2n", False),
        ),
    ]


def _appendix_j(document: Document) -> list[Claim]:
    numbers, compared = document

    def largest() -> Found:
        parts: list[bool | None] = []
        sizes = []
        for name in ("cifar-10", "cifar-100"):
            of = _first(numbers["spearman"].get(name, {}), ("plain",))
            if of is None:
                parts.append(None)
                continue
            sizes.append(f"{of['examples']:,}, {of['runs']} runs")
            for place in range(len(numbers["ratios"])):
                terms = [abs(of[term][place]) for term in ("first_term", "partial", "third_term")]
                parts.append(terms[1] == max(terms))
        known = [part for part in parts if part is not None]
        return f"{sum(known)} of {len(known)} ratios", "; ".join(sizes), parts

    return [
        number_claim("Correlations of CG with its three terms", "appendix J", compared),
        measured_claim(
            "The second term has the largest correlation at every ratio",
            "appendix J",
            "8 of 8",
            largest,
        ),
    ]
