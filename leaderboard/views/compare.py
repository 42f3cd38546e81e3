"""Boards beside each other: people and comparator, over time, by criterion and by category."""

from django.shortcuts import render

from leaderboard.boards import charts, overviews, queries, wording
from leaderboard.views.common import JUDGE, asked_board, board_links, confidence_of, public_page, sign_in_first


@sign_in_first
def beside(request, slug):
    context = public_page(request, slug, "beside")
    boards, pairs = overviews.side_by_side(context["campaign"], request.GET.get("criterion"))
    shown = [queries.alone(board, live=True, today=True) for board in boards]
    rows_of = [{row.system: row for row in board.standings} for board in shown]
    names = list(dict.fromkeys(name for rows in rows_of for name in rows))
    criteria = sorted({criterion for *_, criterion in queries.choices(context["campaign"])})
    context |= {
        "boards": shown,
        "pairs": pairs,
        "criteria": criteria,
        "criterion": boards[0].criterion if boards else None,
        "chart": charts.whiskers(shown) if shown else None,
        "table": [{"name": name, "cells": [rows.get(name) for rows in rows_of]} for name in names],
    }
    if boards:
        place = next((i for i, board in enumerate(boards) if board.basis == JUDGE), 0)
        tried = boards[place]
        samples = queries.latest_of_samples(context["campaign"], boards[0].criterion)
        context |= {
            "of": tried,
            "confidence": confidence_of(tried),
            "stability": shown[place].stability,
            "corrected": next((board for board in shown if board.basis.kind == "corrected"), None),
            "samples_board": samples,
            "three_scores": queries.alone(samples, live=True).three_scores if samples else (),
        }
    return render(request, "leaderboard/beside.html", context)


@sign_in_first
def history(request, slug):
    context = public_page(request, slug, "history")
    campaign = context["campaign"]
    shown = asked_board(request, campaign)
    context |= {"boards": board_links(campaign, shown), "shown": shown}
    if shown:
        played, trees, systems = overviews.history(campaign, shown.basis, shown.criterion, queries.asked_by(shown)[1])
        points = [s | {"points": [p and _numbers(p) for p in s["points"]]} for s in systems]
        context |= {
            "played": list(zip(played, trees)),
            "systems": systems,
            "panels": charts.history(points),
            "board": trees[-1],
        }
    return render(request, "leaderboard/history.html", context)


@sign_in_first
def breakdown(request, slug):
    context = public_page(request, slug, "breakdown")
    campaign = context["campaign"]
    shown = asked_board(request, campaign)
    context |= {"boards": board_links(campaign, shown), "shown": shown}
    if shown:
        trees, systems = overviews.by_criterion(campaign, *queries.asked_by(shown))
        board = next((tree for tree in trees if tree.provenance.tournament == shown.pk), None)
        board = board or queries.alone(shown, live=True, today=True)  # of one comparator among several
        context |= {"board": board, "judged_by": wording.judged_by(board), "trees": trees, "systems": systems}
    return render(request, "leaderboard/breakdown.html", context)


def _numbers(row) -> dict:
    return {"rating": row.rating, "low": row.low, "high": row.high}
