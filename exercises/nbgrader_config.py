"""nbgrader's settings: `cd exercises`, then any `nbgrader` command.

Masters stand in `source/`, the forms that students get in `release/`.
"""

from pathlib import Path

c = get_config()
c.CourseDirectory.course_id = "every-word-at-once"
c.CourseDirectory.root = str(Path(__file__).parent)
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
c.NbGrader.logfile = ""  # no log file in the course folder
