from evaluator.management.judging import JudgingCommand


class Command(JudgingCommand):
    help = 'Write each row of an outputs file with "score" added; higher is better.'
    function = "score_outputs"
