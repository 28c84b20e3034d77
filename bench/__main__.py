"""`python -m bench` lists and runs the studies; `python -m bench NAME` runs one."""

import argparse

from bench import (
    cache,
    chains,
    context,
    corpus,
    headings,
    ingest,
    kill,
    legs,
    locality,
    recompute,
    reliability,
    search,
    settings,
    soak,
    speed,
    strategies,
    verify,
    watch,
    windows,
)
from bench.study import Study, report

STUDIES = (
    cache.STUDY,
    chains.STUDY,
    context.STUDY,
    corpus.STUDY,
    headings.STUDY,
    ingest.STUDY,
    kill.STUDY,
    legs.STUDY,
    recompute.STUDY,
    search.STUDY,
    reliability.STUDY,
    settings.STUDY,
    soak.STUDY,
    locality.STUDY,
    speed.STUDY,
    strategies.STUDY,
    watch.STUDY,
    verify.STUDY,
    windows.STUDY,
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="study")
    for study in STUDIES:
        command = commands.add_parser(study.name, help=study.summary, description=study.summary)
        study.arguments(command)
        command.add_argument("--label", default="", help="ending of the result file's name")
    arguments = parser.parse_args()
    chosen = [study for study in STUDIES if arguments.study in (None, study.name)]
    for study in chosen:
        print(f"{study.name}: {study.summary}", flush=True)
        own = arguments if arguments.study else parser.parse_args([study.name])
        _run(study, own)


def _run(study: Study, arguments: argparse.Namespace) -> None:
    report(study, arguments, study.run(arguments))


if __name__ == "__main__":
    main()
