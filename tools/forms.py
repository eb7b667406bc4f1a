"""Generate the student forms of the exercises from their masters.

    python tools/forms.py [folder]

nbgrader's own generator takes the solutions and the hidden tests out of the masters in
`exercises/source`, by the settings in `exercises/nbgrader_config.py`. The forms go to
`folder`, by default `exercises/release`. No gradebook is made.
"""

import sys
from pathlib import Path

from nbgrader.apps import GenerateAssignmentApp

EXERCISES = Path(__file__).parents[1] / "exercises"


def generate(folder: Path) -> None:
    """Write the form of every master to `folder/NN-name/`."""
    for master in sorted((EXERCISES / "source").glob("*/")):
        GenerateAssignmentApp.clear_instance()
        app = GenerateAssignmentApp.instance(config_dir=str(EXERCISES))
        app.initialize([master.name, "--force", "--no-db"], root=str(EXERCISES))
        app.coursedir.release_directory = str(folder.resolve())
        app.start()


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else EXERCISES / "release")
