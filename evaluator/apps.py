from django.apps import AppConfig


class EvaluatorConfig(AppConfig):
    name = "evaluator"

    def ready(self):
        from annotation.data import export, importer
        from annotation.data.shapes.shape import JUDGE_PAIRS, JUDGE_SCORES
        from annotation.jobs import pulsed
        from evaluator.judge_tables import anchors, imported_rows
        from evaluator.judge_tables.imports import pairs_importer, scores_importer
        from evaluator.trainings import services

        importer.register(JUDGE_SCORES, scores_importer)
        importer.register(JUDGE_PAIRS, pairs_importer)
        export.register(JUDGE_SCORES, imported_rows.SCORE_COLUMNS, imported_rows.exported_scores)
        export.register(JUDGE_PAIRS, imported_rows.PAIR_COLUMNS, imported_rows.exported_pairs)

        pulsed.connect(lambda **_: services.retrain_due(), weak=False, dispatch_uid="retrain_due")
        pulsed.connect(lambda **_: anchors.ask_due(), weak=False, dispatch_uid="ask_due")
