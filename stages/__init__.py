"""One thin script a stage: read params, call the library, write outs and metrics."""

from cares.core.stage import end_with_dvc

end_with_dvc()
