"""A progress bar on stderr, for commands that wait."""

import sys

from tqdm import tqdm


class ProgressBar:
    """`with ProgressBar() as bar: work(watch=bar)`; bar(progress from 0 to 1, message)."""

    def __enter__(self):
        every = 0.1 if sys.stderr.isatty() else 10  # a log file gets a line now and then
        shape = "{l_bar}{bar}| {elapsed}, {remaining} left"
        self._bar = tqdm(total=1.0, file=sys.stderr, mininterval=every, bar_format=shape, dynamic_ncols=True)
        return self

    def __call__(self, progress: float, message: str) -> None:
        self._bar.set_description_str(message, refresh=False)
        self._bar.update(max(0.0, min(progress, 1.0) - self._bar.n))

    def __exit__(self, *exception):
        self._bar.close()
