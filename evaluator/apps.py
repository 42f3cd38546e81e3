from django.apps import AppConfig


class EvaluatorConfig(AppConfig):
    name = "evaluator"

    def ready(self):
        from annotation.data import importer
        from annotation.data.shapes.shape import JUDGE_PAIRS, JUDGE_SCORES
        from annotation.jobs import pulsed
        from evaluator.judge_tables.imports import pairs_importer, scores_importer
        from evaluator.trainings import services

        importer.register(JUDGE_SCORES, scores_importer)
        importer.register(JUDGE_PAIRS, pairs_importer)

        pulsed.connect(lambda **_: services.retrain_due(), weak=False, dispatch_uid="retrain_due")
