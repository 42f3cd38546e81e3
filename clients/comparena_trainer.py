# SPDX-License-Identifier: MIT
"""A judge inside a `transformers.Trainer`, or any trainer that is one, such as TRL's: one file beside comparena_client.py.

    from comparena_client import Client
    from comparena_trainer import ComparenaCallback

    run = Client("http://127.0.0.1:8000", token="comparena_...").campaign("talk").run("lstm-3e-4", total=12_000)
    trainer.add_callback(ComparenaCallback(run, generate))          # generate(model, contexts) -> a text for each context

At each evaluation the model answers the campaign's contexts, and the server's judge compares the answers with earlier ones.
`metric_for_best_model="comparena"` keeps the checkpoint that it finds strongest. Where the server is away, the training goes
on, and the reports are sent later. Install both files with `pip install "./clients[trainer]"`, or copy them.
"""

import logging
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from comparena_client import Advice, Run
from transformers import Trainer, TrainerCallback

METRIC = "eval_comparena"
Generate = Callable[[Any, list[dict[str, Any]]], Sequence[str]]
log = logging.getLogger("comparena")


class ComparenaCallback(TrainerCallback):
    """Reports what the model writes, at each evaluation or each saved checkpoint, and stops the training on advice.

    generate(model, contexts): a text for each of `run.contexts`, {context_id, turns, ...}; called without gradients, with the
    model in evaluation mode, and by the main process alone. What it draws at random leaves the training's own draws as they
    are. Where it fails at first, the training fails; later that is a warning. A model that is spread over several processes
    (FSDP, ZeRO-3) cannot write in one of them: report its saved checkpoints from a program of their own.

    every: "evaluate" or "save". stop: False only reports. wait: whether an evaluation waits for its own verdict; by default
    it does where `metric_for_best_model` asks for it. timeout: for how many seconds at most.
    """

    def __init__(
        self,
        run: Run,
        generate: Generate,
        every: Literal["evaluate", "save"] = "evaluate",
        *,
        stop: bool = True,
        wait: bool | None = None,
        timeout: float = 600.0,
    ):
        if every not in ("evaluate", "save"):
            raise ValueError(f"every: 'evaluate' or 'save', not {every!r}.")
        self.run, self.generate, self.every, self.stop, self.wait, self.timeout = run, generate, every, stop, wait, timeout
        self._reported: tuple[int, float, bool] | None = None  # the last step, its strength, whether to stop
        self._has_written = self._has_warned = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **how: Any) -> None:
        self._reported = None
        if self.run.total is None and state.max_steps > 0:
            self.run.total = state.max_steps
        if self.every == "save" and _is_asked_for(args):
            raise ValueError("metric_for_best_model='comparena' needs ComparenaCallback(..., every='evaluate').")
        if state.is_hyper_param_search:
            raise ValueError("Each trial of a search needs a run of its own: train each with a callback of its own.")
        if getattr(args, "save_strategy" if self.every == "save" else "eval_strategy") == "no":
            log.warning("Nothing will be reported: the training has no %s strategy.", self.every)

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **how: Any) -> None:
        if self.every == "evaluate":
            strength = self._report(args, state, control, how["model"], (metrics or {}).get("eval_loss"))
            if metrics is not None:
                metrics[METRIC] = strength  # not a number where it is not known, which is never the best

    def on_save(self, args: Any, state: Any, control: Any, **how: Any) -> None:
        if self.every == "save":
            self._report(args, state, control, how["model"], None)

    def _report(self, args: Any, state: Any, control: Any, model: Any, loss: float | None) -> float:
        """The strength of the checkpoint, or NaN. Where there are several evaluation sets, a step is reported once."""
        step = state.global_step
        if self._reported is None or self._reported[0] != step:
            said = self._in_main_process(args, state, model, loss) if state.is_world_process_zero else None
            self._reported = (step, *_from_main_process(said))
        _, strength, is_to_stop = self._reported
        if is_to_stop and self.stop:
            control.should_training_stop = True
        return strength

    def _in_main_process(self, args: Any, state: Any, model: Any, loss: float | None) -> tuple[float, bool]:
        step, waits = state.global_step, _is_asked_for(args) if self.wait is None else self.wait
        try:
            texts = list(self._written(model))
            advice = self.run.report(step, texts, validation_loss=loss, wait=waits, timeout=self.timeout)
        except Exception:
            if not self._has_written:  # a mistake, which shows at the first evaluation
                raise
            log.exception("Step %s is not reported. The training goes on.", step)
            return math.nan, False
        self._has_written = True
        strength = advice.strength(step)
        if waits and strength is None and not self._has_warned:
            log.warning("Step %s has no verdict yet. As long as that is so, no checkpoint becomes the best one.", step)
        self._has_warned = waits and strength is None
        best = None if state.best_global_step is None else advice.strength(state.best_global_step)
        if _is_asked_for(args) and best is not None:
            state.best_metric = best  # each verdict estimates the strengths of all checkpoints anew
        self._tell(step, advice)
        _write_to_logs(state, advice)
        return math.nan if strength is None else strength, advice.stop

    def _tell(self, step: int, advice: Any) -> None:
        """All that is said, where it ends the training."""
        if advice.stop and self.stop:
            log.warning("The training stops at step %s, on advice: %s", step, " ".join(advice.said))

    def _written(self, model: Any) -> Sequence[str]:
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad(), torch.random.fork_rng():
                return self.generate(model, self.run.contexts)
        finally:
            model.train(was_training)


def _is_asked_for(args: Any) -> bool:
    return args.metric_for_best_model in (METRIC, METRIC.removeprefix("eval_"))


def _from_main_process(said: tuple[float, bool] | None) -> tuple[float, bool]:
    """What the main process knows, in each: they have to stop together, or the others wait for ever."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        box = [said]
        torch.distributed.broadcast_object_list(box, src=0)
        said = box[0]
    assert said is not None
    return said


def _write_to_logs(state: Any, advice: Advice) -> None:
    """The newest checkpoint that is judged, through the Trainer's own logging: W&B, MLflow, TensorBoard, whatever it has."""
    if not advice.points:
        return
    point = advice.points[-1]
    values = {METRIC: point["strength"], f"{METRIC}_step": point["step"], f"{METRIC}_stop": float(advice.stop)}
    trainer = _trainer()
    if trainer is None:
        state.log_history.append({**values, "step": state.global_step})
    else:
        trainer.log(values)


def _trainer() -> Trainer | None:
    """The trainer that calls. A callback is not told whose it is, and `Trainer.log` is the only way to all loggers."""
    frame = sys._getframe(1)
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, Trainer):
            return caller
        frame = frame.f_back  # type: ignore[assignment]
    return None
