"""What a search found, for people."""

from variorum.records.hits import Answer, Hit, LegScore
from variorum.surfaces.cli.output import console, headings, lines_of, local_time, print_wrapped

_BY = {"dense": "meaning", "lexical": "words", "reranker": "reranker"}
_MEASURE = {"dense": "cosine", "lexical": "BM25", "reranker": "score"}


def print_answer(answer: Answer, *, explain: bool) -> None:
    """Hits as a reader wants them: where, under which headings, the passage, its citation."""
    out = console()
    if answer.fallback:
        by = f"Found by {_BY[answer.mode]} alone: " if answer.mode in _BY else ""
        out.print(f"{by}{answer.fallback}.", style="yellow")
    if not answer.hits:
        out.print(f"No passage in generation {answer.generation}.")
    for hit in answer.hits:
        path = headings(hit.heading_path)
        out.print(f"{hit.rank:>2}  {path or hit.document}", style="bold")
        where = lines_of(hit.start_line, hit.end_line)
        since = local_time(hit.changed_at)
        standing = "" if hit.standing == "current" else f", {hit.standing}"
        out.print(f"    {_found_by(hit)}, {where}, unchanged since {since}{standing}")
        if explain:
            _print_explanation(hit)
        print_wrapped(out, hit.text.strip("\r\n"), "    ")
        out.print(f"    {hit.citation}", style="cyan")
        out.print("")


def _found_by(hit: Hit) -> str:
    return ", ".join(f"{_BY[leg.leg]} {leg.score:.3f}" for leg in hit.legs)


def _print_explanation(hit: Hit) -> None:
    out = console()
    for leg in hit.legs:
        out.print(f"    {_leg(leg)}")
        for term in hit.terms if leg.leg == "lexical" else ():
            times = f"{term.occurrences}× here, in {term.chunks:,} of the passages searched"
            out.print(f"      {term.term}  {term.share:.3f}: {times}")


def _leg(leg: LegScore) -> str:
    score = f"{_MEASURE[leg.leg]} {leg.score:.6f}"
    return f"{_BY[leg.leg]}: rank {leg.rank}, {score}, gives {leg.share:.6f}"
