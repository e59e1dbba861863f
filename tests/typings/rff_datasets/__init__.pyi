from datasets import *  # noqa: F403 - the name under which the wheel installs the folder
