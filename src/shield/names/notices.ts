/** Whose data the names of networks are, as their licence (CC BY 4.0) wants it told wherever they show. */
export const notices = [
  { text: 'IP Geolocation by DB-IP', url: 'https://db-ip.com' },
  { text: 'AS numbers by the Route Views project, University of Oregon', url: 'https://www.routeviews.org' },
  { text: 'Statistics by the Number Resource Organization (NRO)', url: 'https://www.nro.net' },
  { text: 'Put together by ip-location-db', url: 'https://github.com/sapics/ip-location-db' },
  { text: 'Licensed under CC BY 4.0', url: 'https://creativecommons.org/licenses/by/4.0/' },
];
