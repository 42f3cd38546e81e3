"""`serve --demo` by a name of its own."""

from leaderboard.management.commands import serve


class Command(serve.Command):
    help = "Load the demonstration campaign and its accounts, then run everything on this machine."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.set_defaults(demo=True)
