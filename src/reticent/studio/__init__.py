"""The studio: a steward's desk in the browser, from a file to an audited release with its report.

`server` starts it on this machine alone, `app` answers requests, `guard` refuses those that are not ours.  The state is
the job file (`job_file`): every click edits it, and undo and redo are its history.  Long work is a child process of the
command line (`runs`).  Each screen is a module in `screens` with a template of its name.
"""
