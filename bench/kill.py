from bench.study import Result, Study

STUDY = Study("kill", "to come", lambda _: Result())
