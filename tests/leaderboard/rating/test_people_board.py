"""People's board: every answer counts, who can be compared, and whom it speaks of."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from leaderboard.rating import mixed_model, people_board
from leaderboard.rating.bootstrap import context_draws
from leaderboard.rating.people_board import board_from_pairs, board_from_scores, read_pairs, read_scores


def scores(seed=0, systems=4, contexts=20, annotators=8, k=3, taste=0.4, severity=1.0):
    """(system, context, annotator, value) of a simulated crowd; system i is 0.5 i points better than the first."""
    rng = np.random.default_rng(seed)
    rows = [(s, c, a) for c in range(contexts) for s in range(systems) for a in rng.choice(annotators, k, replace=False)]
    s, c, a = np.array(rows).T
    y = 0.5 * s + rng.normal(0, 0.5, contexts)[c] + rng.normal(0, severity, annotators)[a] + rng.normal(0, 0.7, len(s))
    return s, c, a, y + rng.normal(0, taste, (annotators, systems))[a, s]


def pairs(seed=0, systems=4, contexts=30, annotators=8, judgments=400, taste=0.4):
    """(first, second, outcome, context, annotator): system i is 0.6 i logits better than the first."""
    rng = np.random.default_rng(seed)
    first = rng.integers(systems, size=judgments)
    second = (first + rng.integers(1, systems, size=judgments)) % systems
    c, a = rng.integers(contexts, size=judgments), rng.integers(annotators, size=judgments)
    lean = rng.normal(0, taste, (annotators, systems))
    d = 0.6 * (first - second) + lean[a, first] - lean[a, second] + rng.logistic(size=judgments)
    return first, second, np.where(np.abs(d) < 0.3, 0, np.sign(d)).astype(int), c, a


class TestScores:
    @pytest.mark.long
    def test_scores_by_different_people_count(self):
        """Each output has one annotator, and nobody saw two systems on one context: no game follows, a board does."""
        s, c = np.tile(np.arange(4), 40), np.repeat(np.arange(40), 4)
        a = (s * 3 + c) % 12
        rng = np.random.default_rng(0)
        y = 0.8 * s + rng.normal(0, 1, 12)[a] + rng.normal(0, 0.5, len(s))
        board = board_from_scores(4, s, c, a, y)
        assert np.argsort(board.rating).tolist() == [0, 1, 2, 3]
        assert board.above[3, 0] and not board.above[0, 3]

    @pytest.mark.long
    def test_severity_is_taken_out(self):
        """Strict annotators scored the better system more often: plain means deceive, the board does not."""
        rng = np.random.default_rng(1)
        s, c = np.tile([0, 1], 200), np.repeat(np.arange(200), 2)
        a = np.where(s == 1, rng.choice(10, 400, p=[0.18] * 5 + [0.02] * 5), rng.choice(10, 400, p=[0.02] * 5 + [0.18] * 5))
        y = 0.4 * s - 1.0 * (a < 5) + rng.normal(0, 0.3, 400)
        assert y[s == 1].mean() < y[s == 0].mean()
        board = board_from_scores(2, s, c, a, y)
        assert board.difference[1, 0] / board.scale == pytest.approx(0.4, abs=0.15)

    @pytest.mark.long
    def test_a_rating_says_how_often_one_person_prefers_it(self):
        """Two systems d points apart: one person scores one output above the other with chance Phi(d / sqrt(2 v))."""
        s, c, a, y = scores(systems=2, contexts=400, annotators=40, taste=0.0)
        board = board_from_scores(2, s, c, a, y)
        chance = 1 / (1 + 10 ** (-board.difference[1, 0] / 400))
        assert chance == pytest.approx(stats.norm.cdf(0.5 / np.sqrt(2 * 0.7**2)), abs=0.03)

    def test_answers_all_alike_say_nothing(self):
        board = board_from_scores(2, [0, 1] * 6, np.repeat(np.arange(6), 2), [0, 1, 2, 3] * 3, [4.0] * 12)
        assert board.rating.tolist() == [1500, 1500] and not board.above.any() and (board.high - board.low > 1000).all()

    def test_certain_looking_answers_are_not_certain(self):
        """Five against one in every score: the board says it is above, with a finite rating and an interval."""
        board = board_from_scores(2, [0, 1] * 8, np.repeat(np.arange(8), 2), np.repeat(np.arange(8), 2) % 4, [5.0, 1.0] * 8)
        assert board.above[0, 1] and np.isfinite(board.rating).all() and (board.high > board.low).all()

    def test_too_few_scores_are_refused(self):
        with pytest.raises(ValueError, match="2 scores of 2 systems"):
            board_from_scores(2, [0, 1], [0, 0], [0, 0], [3, 4])

    def test_outputs_of_one_context_that_share_a_topic_are_not_independent(self):
        """System x topic effects make the truth vary by topic; knowing the topics widens the intervals."""
        s, c, a, y = scores(contexts=24, taste=0.0)
        y = y + np.random.default_rng(2).normal(0, 0.8, (4, 4))[c % 4, s]
        plain, by_topic = board_from_scores(4, s, c, a, y), board_from_scores(4, s, c, a, y, group=c % 4)
        assert np.median(by_topic.se[0, 1:] / by_topic.scale) > 1.5 * np.median(plain.se[0, 1:] / plain.scale)

    def test_how_systems_differ_by_topic_is_not_underestimated_where_topics_are_alike(self):
        """With balanced data REML gives the estimates of the analysis of variance where none is below 0 (Searle, Casella &
        McCulloch 1992, section 4.8): (MS of topic x system - MS of context x system) / (contexts of a topic x annotators).
        What the topics have in common is drawn below what chance alone gives."""
        rng = np.random.default_rng(3)
        s, c, a = (axis.ravel() for axis in np.meshgrid(np.arange(3), np.arange(24), np.arange(4), indexing="ij"))
        topic = c % 8
        own = rng.normal(0, 1.0, (8, 3))
        own -= own.mean(axis=1, keepdims=True)  # all topics have one mean
        y = own[topic, s] + rng.normal(0, 0.7, (24, 3))[c, s] + rng.normal(0, 0.5, 24)[c]
        y = y + rng.normal(0, 0.5, 4)[a] + rng.normal(0, 0.5, (4, 3))[a, s] + rng.normal(0, 0.6, len(s))
        of_context = np.arange(24) % 8
        outputs = y.reshape(3, 24, 4).mean(axis=2)  # (systems, contexts)
        of_topics = np.stack([outputs[:, of_context == t].mean(axis=1) for t in range(8)], axis=1)  # (systems, topics)

        def differing(means):  # less the means of rows and columns
            return means - means.mean(axis=0) - means.mean(axis=1, keepdims=True) + means.mean()

        within = differing(outputs) - differing(of_topics)[:, of_context]
        of_outputs, of_topic = (within**2).sum() / (2 * 16), 3 * (differing(of_topics) ** 2).sum() / (2 * 7)  # mean squares
        common = 9 * of_topics.mean(axis=0).var(ddof=1)
        assert common < of_topic  # or a variance of their own, not below 0, would be 0 here
        found = read_scores(3, s, c, a, y, group=topic).fit.variances
        assert found["topic"] == pytest.approx((of_topic - of_outputs) / 3, rel=2e-3)


def asked_of_some(seed=0, people=9, contexts=40, each=2):
    """(system, context, annotator, value) of so many answers an output: the better a system, the fewer of them, and those from
    hard contexts and strict people."""
    rng = np.random.default_rng(seed)
    drawn = [(s, c, a) for c in range(contexts) for s in range(3) for a in rng.choice(people, each, replace=False)]
    s, c, a = np.array(drawn).T
    alike = rng.normal(0, 1, contexts)[c] - rng.normal(0, 1, people)[a]
    kept = s - 1 + alike + rng.normal(0, 0.7, len(s)) < 0
    return s[kept], c[kept], a[kept], (alike + rng.normal(0, 0.5, len(s)))[kept]


def test_what_depends_on_answers_is_compared_within_contexts_and_people():
    """Least squares with a column for each context and each annotator, where outputs and leanings do not vary; the variance of
    a difference is then that of an answer times the columns' inverse (numpy). Contexts as a random term say otherwise."""
    s, c, a, y = asked_of_some()
    plain = read_scores(3, s, c, a, y).fit
    like = replace(plain, variances=plain.variances | {"output": 0.0, "taste": 0.0})
    columns = np.hstack([np.eye(3)[s][:, 1:], np.eye(40)[c], np.eye(9)[a]])
    expected, inverse = np.linalg.lstsq(columns, y, rcond=None)[0][:2], np.linalg.pinv(columns.T @ columns)
    found = read_scores(3, s, c, a, y, like=like, conditional=True)
    assert (found.level[1:] - found.level[0]).tolist() == pytest.approx(expected.tolist(), abs=1e-3)
    apart = np.array([[-1, 1, 0], [-1, 0, 1]]) @ found.systems
    variance = ((apart @ found.fit.covariance()) * apart).sum(axis=1)
    assert variance == pytest.approx(like.variances["answer"] * np.diag(inverse)[:2], rel=1e-3)
    assert found.variances == read_scores(3, s, c, a, y, like=like).variances
    random = read_scores(3, s, c, a, y, like=like).level
    assert abs(random[2] - random[0] - expected[1]) > 0.05


class TestManyPeople:
    """More annotators and leanings than one dense matrix takes: conjugate gradients, where contexts' and people's variances are
    10,000 times an answer's."""

    @pytest.fixture
    def asked(self, monkeypatch):
        """(answers, variances with nothing but contexts, people and answers, as least squares has them, each solution)"""
        small = read_scores(3, *asked_of_some()).fit
        like = replace(small, variances=small.variances | {"output": 0.0, "taste": 0.0})
        s, c, a, y = asked_of_some(people=420, contexts=150, each=8)
        solved, solve = [], mixed_model._conjugate_gradients
        monkeypatch.setattr(mixed_model, "_conjugate_gradients", lambda *given: solved.append(1) or solve(*given))
        assert len(np.unique(a)) + len(np.unique(a * 3 + s)) > mixed_model.MOST_DENSE
        return (s, c, a, y), like, solved

    def test_they_are_compared_within_contexts_and_people(self, asked):
        """As least squares with a column for each of 570 contexts and annotators (numpy)."""
        (s, c, a, y), like, solved = asked
        found = read_scores(3, s, c, a, y, like=like, conditional=True)
        columns = np.hstack([np.eye(3)[s][:, 1:], np.eye(150)[c], np.eye(420)[a]])
        inverse = np.linalg.pinv(columns.T @ columns, hermitian=True)
        expected = (inverse @ (columns.T @ y))[:2]
        assert solved == [1, 1] and (found.level[1:] - found.level[0]).tolist() == pytest.approx(expected.tolist(), abs=1e-3)
        apart = np.array([[-1, 1, 0], [-1, 0, 1]]) @ found.systems
        variance = ((apart @ found.fit.covariance()) * apart).sum(axis=1)
        assert variance == pytest.approx(like.variances["answer"] * np.diag(inverse)[:2], rel=1e-3)

    def test_what_does_not_come_to_an_end_is_no_estimate(self, asked, monkeypatch):
        answers, like, _ = asked
        monkeypatch.setattr(mixed_model, "MOST_STEPS", 3)
        with pytest.raises(ValueError, match="too loosely connected"):
            read_scores(3, *answers, like=like, conditional=True)


class TestPairs:
    @pytest.mark.long
    def test_one_person_one_context_each_is_bradley_terry(self):
        """Nothing varies but luck: the fit is the posterior mode with a normal prior of SD 350 (bradley_terry.fit)."""
        from leaderboard.rating import bradley_terry

        first, second, outcome, _, _ = pairs(taste=0.0, judgments=150)
        met, score = np.zeros((4, 4)), np.zeros((4, 4))
        for f, g, o in zip(first, second, outcome):
            met[f, g] += 1
            met[g, f] += 1
            score[f, g] += (1 + o) / 2
            score[g, f] += (1 - o) / 2
        board = board_from_pairs(4, first, second, outcome, np.arange(150), np.arange(150))
        assert board.rating == pytest.approx(bradley_terry.fit(met, score, prior_sd=350).rating, abs=1.0)

    @pytest.mark.long
    def test_order_and_sides_make_no_difference(self):
        first, second, outcome, c, a = pairs()
        board, turned = board_from_pairs(4, first, second, outcome, c, a), board_from_pairs(4, second, first, -outcome, c, a)
        assert board.rating == pytest.approx(turned.rating, abs=1e-3) and board.se == pytest.approx(turned.se, rel=1e-3)

    def test_a_system_that_never_lost_has_a_finite_rating_that_is_not_sure(self):
        board = board_from_pairs(2, [0] * 5, [1] * 5, [1] * 5, range(5), range(5))
        assert 1600 < board.rating[0] < 2000 and not board.above[0, 1]

    @pytest.mark.long
    def test_several_judgments_of_one_output_by_one_person_are_not_independent(self):
        first, second = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)] * 30).T
        who = np.repeat(np.arange(30), 6)
        luck = np.random.default_rng(3).normal(0, 1.5, (30, 4))
        outcome = np.sign(luck[who, first] - luck[who, second]).astype(int)
        board = read_pairs(4, first, second, outcome, who, who)
        assert "personal" in board.fit.variances
        shared = board.fit.variances["personal"] + board.fit.variances["output"]
        assert shared > 0.2


@cache
def reading_of(kind: str, **sizes: int):
    """Not worked out before a test wants it: every process collects this file."""
    return read_scores(4, *scores(**sizes)) if kind == "scores" else read_pairs(4, *pairs(**sizes))


class TestPopulation:
    @pytest.mark.parametrize("kind", ["scores", "pairs"])
    def test_speaking_of_people_in_general_is_less_sure(self, kind):
        reading = reading_of(kind)
        people, annotators = reading.board("people"), reading.board("annotators")
        assert (people.rating == annotators.rating).all()
        off = ~np.eye(4, dtype=bool)
        assert (people.se[off] >= annotators.se[off]).all() and people.se[off].mean() > annotators.se[off].mean()
        assert (people.high - people.low > annotators.high - annotators.low).all()

    def test_three_annotators_do_not_speak_of_others(self):
        assert not read_scores(4, *scores(annotators=3)).speaks_of_people()
        assert read_scores(4, *scores(annotators=4)).speaks_of_people()

    @pytest.mark.long
    def test_more_answers_by_the_same_people_do_not_make_it_sure(self):
        """The annotators' leanings stay: of 5 people, a difference of two systems keeps the variance 2 v / 5."""
        few, many = (read_scores(4, *scores(contexts=c, annotators=5, taste=0.8)) for c in (20, 200))
        width = lambda reading, who: float(np.mean(reading.board(who).se[0, 1:])) / reading.scale
        assert width(many, "people") ** 2 > 0.8 * 2 * many.fit.variances["taste"] / 5
        assert width(many, "annotators") < 0.45 * width(few, "annotators")

    @pytest.mark.parametrize("population", ["people", "annotators"])
    @pytest.mark.parametrize(("kind", "sizes"), [("scores", {"contexts": 80}), ("pairs", {"contexts": 80, "judgments": 900})])
    def test_replicates_vary_as_the_covariance_says(self, kind, sizes, population):
        reading = reading_of(kind, **sizes)
        replicates = reading.replicates(context_draws(80, 2000), population)
        assert replicates.mean(axis=0) == pytest.approx(reading.rating, abs=4)
        assert np.std(replicates, axis=0) == pytest.approx(np.sqrt(np.diag(reading.covariance(population))), rel=0.35)

    def test_an_unknown_population_is_refused(self):
        with pytest.raises(ValueError, match="people, annotators"):
            board_from_scores(4, *scores(), population="martians")


class TestNeverMet:
    def test_groups_without_a_common_context_are_not_compared(self):
        s, c, a, y = scores(systems=4)
        apart = (s < 2) == (c < 10)  # the first two systems on the first contexts, the others on the rest
        board = board_from_scores(4, s[apart], c[apart], a[apart], y[apart] + 3.0 * (s[apart] > 1))
        assert board.component.tolist() == [0, 0, 1, 1]
        assert not board.above[np.ix_([0, 1], [2, 3])].any() and not board.above[np.ix_([2, 3], [0, 1])].any()
        assert np.isinf(board.margin[0, 2]) and board.rating[:2].mean() == pytest.approx(1500)

    def test_pairs_that_never_met(self):
        first, second, outcome, c, a = pairs(judgments=600)
        kept = (first < 2) == (second < 2)
        board = board_from_pairs(4, first[kept], second[kept], outcome[kept], c[kept], a[kept])
        assert not board.above[:2, 2:].any() and not board.above[2:, :2].any() and board.component.tolist() == [0, 0, 1, 1]

    def test_one_link_leaves_the_difference_wide(self):
        first, second, outcome, c, a = pairs(judgments=600)
        kept = (first < 2) == (second < 2)
        kept[np.flatnonzero(~kept)[0]] = True
        board = board_from_pairs(4, first[kept], second[kept], outcome[kept], c[kept], a[kept])
        assert board.component.tolist() == [0] * 4
        assert board.margin[0, 2] > 4 * board.margin[0, 1] and not board.above[:2, 2:].any()


class TestAPartOfTheAnswers:
    """Read with the variances of all answers."""

    @pytest.mark.long
    @pytest.mark.parametrize(("read", "answers"), [(read_scores, scores()), (read_pairs, pairs())])
    def test_takes_the_variances_and_what_is_known_of_them(self, read, answers):
        whole = read(4, *answers)
        here = answers[-2 if read is read_pairs else 1] < 10  # contexts
        part = read(4, *(column[here] for column in answers), like=whole.fit)
        assert part.fit.variances == pytest.approx(whole.fit.variances)
        assert part.fit.information.tolist() == whole.fit.information.tolist()
        assert part.rating != pytest.approx(whole.rating, abs=1)
        off = ~np.eye(4, dtype=bool)
        assert (part.board("annotators").se > whole.board("annotators").se)[off].all()

    def test_is_read_by_itself_where_the_other_lacks_a_variance(self):
        s, c, a, y = scores()
        whole = read_scores(4, s, c, a, y)
        grouped = read_scores(4, s, c, a, y, group=c // 4, like=whole.fit)
        assert grouped.fit.variances == read_scores(4, s, c, a, y, group=c // 4).fit.variances


@pytest.mark.long
def test_many_annotators_are_read_from_a_part_of_them(monkeypatch):
    """Above MOST_DENSE levels the variances come from some annotators and the effects from all; both are near the full fit."""
    answers = scores(annotators=60, contexts=60)
    whole = read_scores(4, *answers)
    monkeypatch.setattr(mixed_model, "MOST_DENSE", 100)
    part = read_scores(4, *answers)
    assert part.rating == pytest.approx(whole.rating, abs=40)
    assert part.fit.effects == pytest.approx(whole.fit.effects, abs=0.05)
    assert part.fit.variances["answer"] == pytest.approx(whole.fit.variances["answer"], rel=0.35)
    assert people_board.LEAST_ANNOTATORS < 20


@pytest.mark.long
def test_looking_from_what_a_few_annotators_tell_finds_the_same(monkeypatch):
    """The restricted likelihood has one highest place here: many answers start nearer to it, and end there."""
    answers = scores(annotators=30, contexts=60)
    whole, starts, likeliest = read_scores(4, *answers), [], mixed_model.Problem.likeliest

    def watched(problem, answer_variance=None, start=None, held=False):
        starts.append((problem.n, start))
        return likeliest(problem, answer_variance, start, held)

    monkeypatch.setattr(mixed_model.Problem, "likeliest", watched)
    monkeypatch.setattr(people_board, "ENOUGH_ANSWERS", 100)
    monkeypatch.setattr(people_board, "FEW_LEVELS", 80)
    part = read_scores(4, *answers)
    (few, none), (everything, start) = starts
    assert few < everything == len(answers[-1]) and none is None and start is not None
    assert start["answer"] != pytest.approx(whole.fit.variances["answer"], rel=1e-3)
    assert part.fit.variances == pytest.approx(whole.fit.variances, rel=1e-3, abs=1e-5)
    assert part.rating == pytest.approx(whole.rating, abs=0.01)


def test_four_annotators_of_many_systems_are_read_as_others_are(monkeypatch):
    """With too many levels for one dense matrix and too few annotators to leave some out."""
    answers = scores(annotators=4, contexts=20)
    whole = read_scores(4, *answers)
    monkeypatch.setattr(mixed_model, "MOST_DENSE", 10)
    large = read_scores(4, *answers)
    assert large.rating == pytest.approx(whole.rating, abs=0.01)
    for name in ("context", "output", "taste", "answer"):
        assert large.fit.variances[name] == pytest.approx(whole.fit.variances[name], rel=1e-3, abs=1e-5)


@pytest.mark.long
def test_many_judgments_are_read_as_few_are(monkeypatch):
    """Variances inside contexts from a part of the contexts: the same board, within what the part leaves open (2,000 of 9,000
    judgments on 900 contexts; the SE of a variance from 200 contexts is about 15%)."""
    rng = np.random.default_rng(0)
    systems, contexts, annotators, n = 4, 900, 8, 9000
    first = rng.integers(0, systems, n)
    second = (first + rng.integers(1, systems, n)) % systems
    context, annotator = rng.integers(0, contexts, n), rng.integers(0, annotators, n)
    luck, taste = rng.normal(0, 0.8, (contexts, systems)), rng.normal(0, 0.4, (annotators, systems))
    worth = np.linspace(0, 1, systems) + luck[context] + taste[annotator]  # (n, systems)
    rows = np.arange(n)
    outcome = np.sign(worth[rows, first] - worth[rows, second] + rng.logistic(size=n)).astype(int)
    answers = (systems, first, second, outcome, context, annotator)
    whole = people_board.read_pairs(*answers)
    monkeypatch.setattr(people_board, "ENOUGH_ANSWERS", 2000)
    part = people_board.read_pairs(*answers)
    assert part.fit.variances["output"] == pytest.approx(whole.fit.variances["output"], rel=0.3)
    assert part.fit.variances["output"] != whole.fit.variances["output"]
    assert part.fit.variances["taste"] == pytest.approx(whole.fit.variances["taste"], rel=0.1)
    assert part.rating == pytest.approx(whole.rating, abs=2)
    off = ~np.eye(systems, dtype=bool)
    assert part.board().se[off] == pytest.approx(whole.board().se[off], rel=0.05)
