"""``cgscore demo``: find flipped labels of scikit-learn's digits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cgscore.cli.console import one_line, output_console, print_json, quiet_warnings
from cgscore.cli.options import JsonOption
from cgscore.cli.suspects import SUSPECTS_SHOWN, print_suspects
from cgscore.errors import OptionError

if TYPE_CHECKING:
    from rich.console import Console

    from cgscore.cli.flipped_digits import FlippedDigits


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the result and its report.")
    ] = Path("cgscore-demo"),
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Seed that decides which labels are flipped.")
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Flip labels of scikit-learn's digits, and find them again."""
    from cgscore.cli.flipped_digits import FLIPPED_SHARE, find_flipped_labels

    console = output_console()
    if not as_json:
        console.print(
            "digits    1,797 images of 8 x 8 pixels in 10 classes\n"
            f"task      find the {FLIPPED_SHARE:.0%} of the labels that were flipped at random"
        )
    with quiet_warnings():
        digits = find_flipped_labels(seed)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"-o {output}: cannot create this folder ({error.strerror}).") from error
    path, page = output / "scores.parquet", output / "report.html"
    digits.scores.save(path)
    digits.scores.report(page)
    if as_json:
        print_json(
            {
                "output": str(path),
                "report": str(page),
                "flipped": digits.flipped,
                "suspects": len(digits.suspects),
                "found": digits.detected,
                "precision": digits.precision,
                "recall": digits.recall,
                "suggestions_right": digits.corrected,
                **digits.scores.meta,
            }
        )
        return
    _print_comparison(console, digits)
    console.print()
    console.print(f"Written:  {one_line(str(path))}", soft_wrap=True)
    console.print(f"Open:     {page.resolve().as_uri()}", soft_wrap=True)
    console.print("Next:     cgscore issues YOUR-DATA.csv --label-column NAME")


def _print_comparison(console: Console, digits: FlippedDigits) -> None:
    """Print how many of the flipped labels are among the suspects, and the worst suspects."""
    meta, count, (low, high) = digits.scores.meta, len(digits.suspects), digits.interval
    console.print(
        f"method    exact, ridge {meta['ridge']:.2g}: no model is trained; "
        f"{meta['timings']['total']:.1f} s\n"
        "\n"
        f"About {digits.estimated:.0f} labels look wrong (95 %: {low:.0f} to {high:.0f}); "
        f"{count} are flagged.\n"
        f"{digits.flipped} labels were flipped, and {digits.detected} of them are among the "
        f"{count}:\n"
        f"precision {digits.precision:.1%}, recall {digits.recall:.1%}. "
        f"The suggested label is right for {digits.corrected}.\n"
        "\n"
        f"The {SUSPECTS_SHOWN} worst:"
    )
    print_suspects(console, digits.scores, digits.suspects.head(SUSPECTS_SHOWN))
