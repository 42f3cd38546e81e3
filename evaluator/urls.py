from django.urls import path

from evaluator import views

urlpatterns = [
    path("c/<slug:slug>/comparator/", views.comparator, name="comparator"),
    path("c/<slug:slug>/comparator/train/", views.train, name="train"),
]
