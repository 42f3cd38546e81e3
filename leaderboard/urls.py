from django.urls import path

from leaderboard import api, views

urlpatterns = [
    path("c/<slug:slug>/leaderboard/", views.leaderboard, name="leaderboard"),
    path("c/<slug:slug>/leaderboard/play/", views.play, name="play"),
    path("tournaments/<int:pk>/", views.tournament, name="tournament"),
    path("api/campaigns/<slug:slug>/leaderboard/", api.LeaderboardView.as_view(), name="api_leaderboard"),
    path("api/tournaments/<int:pk>/", api.TournamentView.as_view(), name="api_tournament"),
]
