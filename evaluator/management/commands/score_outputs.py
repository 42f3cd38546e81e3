from evaluator.management.judging import JudgingCommand


class Command(JudgingCommand):
    help = (
        'Write each row of an outputs file with "score" added; higher is better. Where the comparator learnt several criteria'
        ' "score" is by the first, and "scores" holds one for each by name, all in logits.'
    )
    function = "score_outputs"
