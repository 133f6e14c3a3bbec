"""The page of all items: claims first, settings once, trials last."""

from __future__ import annotations

from collections.abc import Sequence

from cgscore_paper.claim_list import SMALL, all_claims
from cgscore_paper.claims import claims_table, count_sentence, number_sentence
from cgscore_paper.plans import Plan
from cgscore_paper.results import Written, rounded


def page_text(written: Sequence[Written], plan: Plan, folder: str, *, reduced: int = 0) -> str:
    """Markdown, with links to figures in `folder`; `reduced` trainings were in bfloat16."""
    documents = {
        item.name: (rounded(item.result.numbers), item.result.compared) for item in written
    }
    claims = all_claims(documents)
    trials = [item.result.trials for item in written if item.result.trials]
    contents = "\n".join(f"- [{item.title}](#{anchor(item.title)})" for item in written)
    parts = [
        "# The paper's claims, and its figures and tables\n",
        f'"Data Valuation Without Training of a Model" (ICLR 2023), by `cgscore paper --all '
        f"--preset {plan.name}`. {count_sentence(claims)}\n",
        f"{claims_table(claims)}\n",
        f"{number_sentence(documents)}\n",
        f"## Settings\n\n{_settings(plan, reduced)}\n",
        f"{contents}\n",
        *(item.fragment(folder) for item in written),
    ]
    if trials:
        parts.append("## Trials\n\nRuns that test what a number depends on.\n")
        parts += [f"{text}\n" for text in trials]
    if plan.background:
        parts.append(
            "## Smaller runs\n\nThe same figures of 8,000 examples and small networks, and scores "
            "that the paper does not have, are made by `cgscore paper --all --preset desk`: "
            f"[{folder}desk]({folder}desk).\n"
        )
    return "\n".join(parts)


def _settings(plan: Plan, reduced: int) -> str:
    lines = [
        plan.description,
        "Steps are as many as for all examples, whatever is removed; the same share of every class "
        "is removed.",
        "The estimator is the paper's; the classes of a run share one draw of others "
        "(`cgscore/solvers/sampled/shared_draws.py`). Channels of CIFAR are standardised.",
        "± is a sample standard deviation, given for three repeats or more. Accuracies differ if "
        "they do by two standard errors; of fewer than three trainings, by more than "
        f"{SMALL}. A claim of which no accuracies differ is undecided.",
        "Wrong labels: an exact count, the same share of every class, spread evenly over the "
        "others.",
        "Seconds are of the wall clock of two cores that also did other work. Every JSON file "
        "names its cells, and every cell its commit, sources, seeds, machine and date; cells moved "
        "from files of version 0.1, which did not keep all of that, name those files.",
    ]
    if reduced:
        lines.append(
            f"In {reduced} of the trainings steps multiply in bfloat16, in the others in float32; "
            "`python bench/precision.py` compares their accuracies."
        )
    if plan.background:
        lines.append(
            "`python -m cgscore_paper.background run` computes what is not tested yet, in the "
            "order of `cgscore_paper/queue.py`."
        )
    return "\n".join(f"- {line}" for line in lines)


def anchor(title: str) -> str:
    """The link to a heading."""
    letters = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return letters.replace(" ", "-")
