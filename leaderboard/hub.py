"""Files from the Hugging Face Hub, and a snapshot's files to it: by commands alone, where HF_HUB_OFFLINE=0 allows it. The token
is the environment's HF_TOKEN, the server its HF_ENDPOINT."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.data.files import is_archive
from core.archives import MAX_UNPACKED_BYTES, RAISED, READ
from core.encodings import plain_name
from core.errors import Refused, quoted

ADDRESS = re.compile(r"hf://datasets/(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+?))?(?:/(?P<file>[^@]+))?", re.ASCII)
REPO = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}", re.ASCII)
LISTED = 20  # files that a refusal names
# What its client raises over an answer that it did not expect.
OF_ANOTHER_FORM = (LookupError, TypeError, AttributeError, AssertionError, RecursionError)


@dataclass(frozen=True)
class Address:
    """hf://datasets/OWNER/NAME[@REVISION][/FILE]"""

    repo: str
    revision: str | None = None
    file: str | None = None


def address_of(text: str) -> Address:
    found = ADDRESS.fullmatch(text)
    if not found or ".." in text:
        raise Refused(f"An address on the Hub is hf://datasets/OWNER/NAME[/FILE], not {quoted(text)}.")
    return Address(**found.groupdict())


def download(address: Address, folder: Path) -> Path:
    """Bring one file into the folder. Without a name, the only one that an import reads. Raises Refused."""
    with _told(address.repo) as api:
        file = address.file or _only_one(api, address)
        where = {"repo_type": "dataset", "revision": address.revision}
        sizes = [found.size for found in api.get_paths_info(address.repo, [file], **where) if hasattr(found, "size")]
        if not sizes:
            raise Refused(f"{address.repo} has no file {quoted(file)}.")
        if sizes[0] > MAX_UNPACKED_BYTES:
            size = f"{sizes[0] / 2**20:,.0f} MB; at most {MAX_UNPACKED_BYTES // 2**20} MB are read ({RAISED})"
            raise Refused(f"{quoted(file)} of {address.repo} has {size}.")
        return Path(api.hf_hub_download(address.repo, file, **where, local_dir=folder))


def _only_one(api: Any, address: Address) -> str:
    there = api.list_repo_files(address.repo, repo_type="dataset", revision=address.revision)
    files = [f for f in there if is_archive(f) or plain_name(f).lower().rpartition(".")[2] in READ]
    if len(files) != 1:
        named = ", ".join(sorted(files)[:LISTED]) + (" …" if len(files) > LISTED else "")
        raise Refused(f"{address.repo} holds {len(files)} files of rows; name one of them: {named}." if files else
                      f"{address.repo} holds no file that an import reads.")  # fmt: skip
    return str(files[0])


@dataclass(frozen=True)
class Upload:
    """address: of the commit; is_public: whether everybody may see it."""

    address: str
    is_public: bool


def upload(repo: str, files: dict[str, bytes], public: bool = False) -> Upload:
    """Put the files into a data set of the Hub, in one commit. A new one is private unless `public`; one that is there and that
    everybody may see takes them only where `public` says that this is meant. Raises Refused."""
    if not REPO.fullmatch(repo):
        raise Refused(f"A data set on the Hub is named OWNER/NAME, not {quoted(repo)}.")
    with _told(repo) as api:
        from huggingface_hub import CommitOperationAdd

        api.create_repo(repo, repo_type="dataset", private=not public, exist_ok=True)
        is_public = not api.repo_info(repo, repo_type="dataset").private
        if is_public and not public:
            raise Refused(f"Everybody may see {repo}; --public sends the files there all the same.")
        added = [CommitOperationAdd(path, content) for path, content in files.items()]
        done = api.create_commit(repo, added, commit_message="Add a snapshot of Comparena", repo_type="dataset")
    return Upload(str(done.commit_url), is_public)


@contextmanager
def _told(repo: str) -> Iterator[Any]:
    """The Hub's client; what goes wrong is said in one sentence."""
    from huggingface_hub import HfApi, errors

    from leaderboard.hub_client import bounded

    try:
        with bounded():
            yield HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None, library_name="comparena")
    except errors.OfflineModeIsEnabled:
        raise Refused("The Hugging Face Hub is off here; HF_HUB_OFFLINE=0 in the environment turns it on.") from None
    except (errors.GatedRepoError, errors.RepositoryNotFoundError):
        said = f"The Hub shows no data set {quoted(repo)}: it is not there, or HF_TOKEN is missing or may not see it."
        raise Refused(said) from None
    except errors.RevisionNotFoundError:
        raise Refused(f"{repo} has no such revision on the Hub.") from None
    except errors.HfHubHTTPError as error:
        status = int(getattr(getattr(error, "response", None), "status_code", 0))
        why = {401: "it wants a token (HF_TOKEN)", 403: "HF_TOKEN may not do this", 413: "the files are too large"}.get(status)
        raise Refused(f"The Hub refused {repo}: {why or f'status {status}'}.") from None
    except (OSError, ValueError, *OF_ANOTHER_FORM) as error:
        raise Refused(f"The Hub can't be reached or understood ({type(error).__name__}); nothing was changed here.") from None
    except Exception as error:
        if not type(error).__module__.startswith(("httpx", "httpcore", "requests", "huggingface_hub")):
            raise
        raise Refused(f"The Hub can't be reached ({type(error).__name__}); nothing was changed here.") from None
