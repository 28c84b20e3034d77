"""Cases of the area code that concern a whole index, by id."""

from pathlib import Path

from workbench import Bench


def test_COD_03_what_no_parser_reads_is_indexed_and_said_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path, collections='include = ["**/*"]\n')
    bench.write(
        {
            "a.py": "def f(:\n  xyzzy-13\n",
            "b.zig": 'const std = @import("std");\n',
            "c.py": "#!/bin/sh\nset -e\nif [ -x a ]; then\n  b\nfi\n",
        }
    )
    report, _ = bench.sync()
    assert (report.documents.added, report.documents.held) == (3, 0)
    reasons = {str(one.document): one.reason for one in report.fallbacks}
    assert reasons.keys() == {"docs:a.py", "docs:b.zig", "docs:c.py"}
    assert reasons["docs:b.zig"] == "no parser for text/x-zig"
    with bench.open() as index:
        assert str(index.search("xyzzy-13", 1).hits[0].document) == "docs:a.py"
