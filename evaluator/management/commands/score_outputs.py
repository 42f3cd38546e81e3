from evaluator.management.judge_command import JudgingCommand


class Command(JudgingCommand):
    help = (
        'Score each output in a file. The result has two new fields: "score", the predicted mean score of people from 0 to 1,'
        ' and "utility", the same in logits. Differences of utilities give the probability that one output is better. If the'
        ' comparator learned several criteria, both fields are for the first; "scores" and "utilities" hold all, by name.'
    )

    kind = "score"

    def judging(self):
        from evaluator.worker.judged_files import score_outputs

        return score_outputs
