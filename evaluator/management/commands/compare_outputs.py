from evaluator.management.judge_command import JudgingCommand


class Command(JudgingCommand):
    help = 'Compare each pair of outputs in a file. Adds the fields "p_a", "p_tie", "p_b" and "predicted_choice".'

    kind = "compare"

    def judging(self):
        from evaluator.worker.judged_files import compare_outputs

        return compare_outputs
