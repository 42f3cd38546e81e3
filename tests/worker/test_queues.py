"""The embedded default: while a training runs, a calculation is done."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.worker.test_worker import ROOT, corpus, shell  # noqa: F401 a fixture


def test_a_calculation_does_not_wait_for_a_training(shell):  # noqa: F811
    corpus(shell)
    shell.manage("train_comparator", shell.slug)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    site = shell.folder / "site"  # read by every Python that serve starts
    site.mkdir()
    (site / "sitecustomize.py").write_text("import tests.worker.hold_training\n")
    shell.env["PYTHONPATH"] = os.pathsep.join([str(site), str(ROOT)])
    log = (shell.folder / "worker.log").open("ab")
    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
    served = subprocess.Popen(command, cwd=ROOT, env=shell.env, stdout=log, stderr=log, start_new_session=True)
    shell.workers.append(served)
    shell.wait_until_held(served)
    shell.python(
        "from annotation.models import *; from annotation import jobs; from annotation.assessment import calculations as c;"
        f"c.AT_ONCE = -1; campaign = Campaign.objects.get(slug='{shell.slug}');"
        "c.look_up(campaign, 'annotators', 'Look at the annotators'); print('null')"
    )
    status = "print(json.dumps(list(Job.objects.filter(task='annotation.tasks.calculate').values_list('status', 'error'))))"
    end = time.monotonic() + 600
    while (said := shell.python(status)) not in ([["done", ""]], [["failed", ""]]) and time.monotonic() < end:
        time.sleep(0.1)
    assert said == [["done", ""]], Path(log.name).read_text()
    assert shell.job()["status"] == "running"
