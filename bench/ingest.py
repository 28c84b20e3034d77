from bench.study import Result, Study

STUDY = Study("ingest", "to come", lambda _: Result())
