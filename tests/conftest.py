"""Settings of all tests: hypothesis without a clock, and in CI the same examples."""

import os

from hypothesis import settings

settings.register_profile(
    "course", deadline=None, derandomize=os.environ.get("CI") == "true"
)
settings.load_profile("course")

# No test touches what the person who runs it has passed.
os.environ["COURSE_PROGRESS"] = "off"
