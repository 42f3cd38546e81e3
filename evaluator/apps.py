from django.apps import AppConfig


class EvaluatorConfig(AppConfig):
    name = "evaluator"

    def ready(self):
        from annotation.jobs import pulsed
        from evaluator.trainings import services

        pulsed.connect(lambda **_: services.retrain_due(), weak=False, dispatch_uid="retrain_due")
