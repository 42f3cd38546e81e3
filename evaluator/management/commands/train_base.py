from core.commands import ServiceCommand
from core.errors import Refused
from evaluator.comparator.settings import Settings, check_seed
from evaluator.management.device import add_device, use_device
from evaluator.management.progress import ProgressBar
from evaluator.trainings.dialogues import read_conversations
from evaluator.versions import selectors

EXCHANGES = 20_000


class Command(ServiceCommand):
    help = "Train a base on general conversations, without a campaign. Later trainings can start from it (--base NAME)."

    def add_arguments(self, parser):
        usual = Settings()
        super().add_arguments(parser)
        parser.add_argument("name", help="small letters, digits and hyphens")
        parser.add_argument(
            "--dialogues", nargs="+", required=True, metavar="FILE", help="files in the format of import_dialogues"
        )
        parser.add_argument("--encoder", default="", help="a folder, or a name on the Hugging Face hub")
        parser.add_argument(
            "--teacher", default="", help="a larger encoder to imitate, which is trained first: a folder, or a name on the hub"
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--exchanges",
            type=int,
            default=EXCHANGES,
            help="number of replies to learn from; whole conversations are sampled (default: %(default)s)",
        )
        parser.add_argument(
            "--pass-most",
            type=int,
            default=usual.pass_most,
            help="replies per pass, which limits the time: "
            f"{usual.contrast_passes} passes tune the cosine, {usual.base_passes + usual.base_harder_passes:g} the base "
            "(default: %(default)s)",
        )
        add_device(parser)

    def run(self, name, dialogues, encoder, teacher, seed, exchanges, pass_most, device, **options):
        use_device(device)
        check_seed(seed)
        if min(exchanges, pass_most) < 1:
            raise Refused("--exchanges and --pass-most must be at least 1.")
        folder, conversations = selectors.base_folder(name), read_conversations(dialogues)
        from evaluator.worker.base import make

        settings = Settings(encoder=encoder, teacher=teacher, pass_most=pass_most)
        try:
            with ProgressBar() as bar:
                return make(folder, conversations, settings, seed, exchanges, bar)
        except KeyboardInterrupt:
            raise Refused("Stopped. Run the same command again to continue; at most a minute of work is lost.") from None
